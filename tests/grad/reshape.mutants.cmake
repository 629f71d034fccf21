mutant(reshape assigns_dx FIND "dx[i] += out.grad()[i]" REPLACE "dx[i] = out.grad()[i]")
mutant(reshape reverses_the_order FIND "out.grad()[i]" REPLACE "out.grad()[dx.size() - 1 - i]")
