set(file FILE autograd/ops/binary.cpp)

mutant(add assigns_where_shapes_are_equal FIND "D[i] += slope" REPLACE "D[i] = slope" ${file})
mutant(add keeps_only_the_last_repeated_term FIND "D[at + i * step] += " REPLACE "D[at + i * step] = " ${file})
mutant(add without_sum_along_a_row FIND "D[at + i * step] += " REPLACE "if (step == 1 || i == 0) D[at + i * step] += "
  ${file})
mutant(sub without_minus FIND "return -dy; }" REPLACE "return dy; }" ${file})
mutant(sub without_sum_over_leading_axes FIND "D[at + i * step] += " REPLACE "if (at_y == 0) D[at + i * step] += "
  ${file})
mutant(mul forgets_b_in_da FIND "return dy * v; }" REPLACE "return dy; }" ${file})
mutant(mul forgets_a_in_db FIND "return dy * u; }" REPLACE "return dy; }" ${file})
mutant(mul without_sum_along_a_row FIND "D[at + i * step] += " REPLACE "if (step == 1 || i == 0) D[at + i * step] += "
  ${file})
mutant(div multiplies_in_da FIND "return dy / v; }" REPLACE "return dy * v; }" ${file})
mutant(div forgets_the_square_in_db FIND "-dy * u / (v * v)" REPLACE "-dy * u / v" ${file})
mutant(div wrong_sign_in_db FIND "-dy * u / (v * v)" REPLACE "dy * u / (v * v)" ${file})
