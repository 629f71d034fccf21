// Drawing only what keeps a text whole. A byte-level model can draw bytes that are no character, and a small one does now
// and then: the token that begins a rare character, and then not the one that ends it.
#pragma once

#include "nn/text/sampler.h"
#include "nn/text/tokenizer.h"

namespace gradus::nn {

// The sampler with the logits of all tokens removed whose bytes, behind those of the context, could not be UTF-8 whatever
// followed. Among the others their proportions stay. A context that is broken already counts from its last character on.
// The tokenizer must outlive the result. Errors of the result also: no token is left.
Sampler keep_utf8(Sampler sampler, const Tokenizer& tokenizer);

}  // namespace gradus::nn
