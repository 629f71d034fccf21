mutant(dropout forgets_the_factor FIND "DY[i] * factor" REPLACE "DY[i]")
mutant(dropout draws_another_mask FIND "DX[i] += draws.uniform(i)" REPLACE "DX[i] += draws.uniform(i + 1)")
mutant(dropout assigns_dx FIND "DX[i] += " REPLACE "DX[i] = ")
