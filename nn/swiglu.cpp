#include "nn/swiglu.h"

#include "autograd/error.h"

namespace gradus::nn {

std::size_t swiglu_hidden(std::size_t width, std::size_t multiple_of, double factor) {
  expect(multiple_of > 0, "swiglu_hidden: multiple_of must be 1 or more, not 0");
  expect(factor > 0, "swiglu_hidden: factor must be above 0, not {}", factor);
  const std::size_t two_thirds = 8 * width / 3;
  const std::size_t hidden = static_cast<std::size_t>(factor * static_cast<double>(two_thirds));
  return (hidden + multiple_of - 1) / multiple_of * multiple_of;
}

}  // namespace gradus::nn
