mutant(decoder forgets_a_residual FILE nn/decoder.cpp FIND "h = layer(h, table, context)" REPLACE "h = layer(h, table, context), h = Tensor(h.shape(), h.values()).set_requires_grad()")
