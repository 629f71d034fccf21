set(file FILE autograd/ops/reduce.cpp)

mutant(sum assigns_dx FIND "DX[(o * view.n + j) * view.inner + i] += "
  REPLACE "DX[(o * view.n + j) * view.inner + i] = " ${file})
mutant(sum reads_the_first_block_only FIND "slope * DY[o * view.inner + i]" REPLACE "slope * DY[i]" ${file})
mutant(mean forgets_to_divide FIND "scaled_sum_backward(out, view, x, s)" REPLACE "scaled_sum_backward(out, view, x, 1)"
  ${file})
mutant(mean forgets_dy FIND "slope * DY[o * view.inner + i]" REPLACE "slope" ${file})
mutant(max assigns_dx FIND "dx[where[i]] += " REPLACE "dx[where[i]] = " ${file})
mutant(max gives_to_the_first FIND "dx[where[i]] += " REPLACE "dx[i] += " ${file})
