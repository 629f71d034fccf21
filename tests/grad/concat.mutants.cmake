mutant(concat assigns_dx FIND "DX[o * length + i] += " REPLACE "DX[o * length + i] = ")
mutant(concat every_input_reads_the_start FIND "+= DY[o * width + start + i]" REPLACE "+= DY[o * width + i]")
