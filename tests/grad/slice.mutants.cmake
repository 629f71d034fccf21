mutant(slice assigns_dx FIND "DX[start + o * stride + i] += " REPLACE "DX[start + o * stride + i] = ")
mutant(slice gives_to_the_start_of_the_axis FIND "DX[start + o * stride + i]" REPLACE "DX[o * stride + i]")
mutant(slice blocks_without_gaps FIND "DX[start + o * stride + i]" REPLACE "DX[start + o * length + i]")
