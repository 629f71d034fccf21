mutant(masked_fill lets_the_gradient_through FIND "filled[at_mask + i] == 1 ? 0 : DY[at + i]" REPLACE "DY[at + i]")
mutant(masked_fill inverts_the_mask FIND "filled[at_mask + i] == 1" REPLACE "filled[at_mask + i] == 0")
mutant(masked_fill assigns_dx FIND "DX[at + i] += " REPLACE "DX[at + i] = ")
