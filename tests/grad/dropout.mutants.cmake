mutant(dropout forgets_the_factor FIND "DY[i] * factor" REPLACE "DY[i]")
mutant(dropout keeps_more_than_forward FIND "DX[i] += draw >= p" REPLACE "DX[i] += draw >= p * p")
mutant(dropout assigns_dx FIND "DX[i] += " REPLACE "DX[i] = ")
