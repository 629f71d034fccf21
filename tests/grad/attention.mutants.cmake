mutant(attention without_dy_dot_y FIND "(ds[s] - dy_dot_y)" REPLACE "ds[s]")
mutant(attention dy_dot_y_of_another_row FIND "dy_row[i] * y_row[i]"
  REPLACE "DY[block.query_at + i] * Y[block.query_at + i]")
mutant(attention without_scale_in_dquery FIND ".c_stride = query_stride, .alpha = inv_sqrt_d,"
  REPLACE ".c_stride = query_stride,")
mutant(attention assigns_dkey FIND ".c = DK + block.key_at, .c_stride = key_stride,
            .alpha = inv_sqrt_d, .beta = 1" REPLACE ".c = DK + block.key_at, .c_stride = key_stride,
            .alpha = inv_sqrt_d")
mutant(attention assigns_dvalue FIND ".c = DV + block.key_at, .c_stride = key_stride,
            .beta = 1" REPLACE ".c = DV + block.key_at, .c_stride = key_stride")
mutant(attention sees_the_future_in_backward FIND "visible = e.visible(block.b, block.first + row), n"
  REPLACE "visible = block.keys, n")
mutant(attention weights_do_not_sum_to_one FIND "fast_exp(p[s] - shift) * inverse" REPLACE "fast_exp(p[s] - shift)")
mutant(attention heads_modulo_in_dkey FIND ".c = DK + block.key_at"
  REPLACE ".c = DK + (block.key_at - block.key_at % key_stride) + block.query_at % key_stride")
mutant(attention values_of_another_head FIND "DV + block.key_at"
  REPLACE "DV + (block.key_at - block.key_at % key_stride)")
mutant(attention swaps_query_and_key FIND ".b = Q + block.query_at, .b_stride = query_stride"
  REPLACE ".b = K + block.key_at, .b_stride = key_stride")
mutant(attention assigns_dbias FIND "e.S + s] += ds[s]" REPLACE "e.S + s] = ds[s]")
mutant(attention dbias_of_another_head FIND "DB[(block.row_at + row) * e.S"
  REPLACE "DB[(block.b * e.H * e.T + block.first + row) * e.S")
mutant(attention without_dropout_in_dscores FIND "ds[s] *= F[s]" REPLACE "ds[s] *= 1")
mutant(attention without_dropout_in_dvalue FIND "dropout && s < visible; ++s) p[s] *= F[s]"
  REPLACE "dropout && s < visible; ++s) p[s] *= 1")
mutant(attention draws_of_another_row_in_backward
  FIND "dropout_factors(*dropout, block.row_at + row, e.S, visible, F);
        for" REPLACE "dropout_factors(*dropout, block.row_at, e.S, visible, F);
        for")
