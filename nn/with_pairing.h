// A decoder whose rotary positions turn other pairs of numbers: the same function, its rows in another order.
#pragma once

#include "nn/decoder.h"

namespace gradus::nn {

// Only what changes is copied, see autograd/ops/rope_pairing.h; all else is shared with the original.
Decoder with_pairing(RopePairing pairing, const Decoder& original);

}  // namespace gradus::nn
