mutant(gpt2 cuts_the_residual_stream FILE nn/gpt2.cpp FIND "return h + maybe_dropout" REPLACE "return Tensor(h.shape(), h.values()) + maybe_dropout")
