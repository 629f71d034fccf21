mutant(transpose assigns_dx FIND "DX[at_x + i] += " REPLACE "DX[at_x + i] = ")
mutant(transpose does_not_transpose_back FIND "DX[at_x + i] += DY[at_y + i]" REPLACE "DX[at_x + i] += DY[at_x + i]")
