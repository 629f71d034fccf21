// What the files of both decoders, minimind's and happy-llm's, ask alike.
#pragma once

#include "tests/golden/loaded.h"

namespace gradus::golden {

// The number of parameters and the width of the feed-forward layer, where the metadata have them.
void compare_sizes(File& file, const nn::Config& config);
// h.*: what flows along the residual stream, and attention before it is added.
void compare_hidden_states(File& file, const nn::Decoder& decoder, const Batch& ids);
// logits*, from both kinds of attention.
void compare_logits(File& file, nn::Decoder& decoder, const Batch& ids);

}  // namespace gradus::golden
