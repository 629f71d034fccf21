mutant(repeat_heads assigns_dx FIND "DX[g * D + i] += " REPLACE "DX[g * D + i] = ")
mutant(repeat_heads reads_the_first_copy_only FIND "DY[(g * times + copy) * D + i]" REPLACE "DY[g * times * D + i]")
mutant(repeat_heads alternates_heads FIND "DY[(g * times + copy) * D + i]" REPLACE "DY[(copy * heads + g) * D + i]")
