mutant(decoder cuts_the_residual_stream FILE nn/decoder.cpp FIND "h = layer(h, table, context);\n" REPLACE "h = layer(Tensor(h.shape(), h.values()).set_requires_grad(), table, context);\n")
