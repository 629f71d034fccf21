// The recorded graph: which operation made a tensor, from what, and how a gradient goes back through it.
//
// An operation computes its output y and ends with
//
//   return record(y, "name", {x, w}, [x, w](const Tensor& y) { … add to the gradients of x and w … });
//
// The inputs are the edges of the graph. The capture list is what backward reads: never the output, which
// arrives as the argument (a capture of it would be a cycle that is never freed).
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "autograd/tensor.h"

namespace gradus {

using Backward = std::function<void(const Tensor& output)>;

struct Recipe {
  struct Input {
    Tensor tensor;
    std::uint32_t version;  // of its values when it was used
  };

  std::uint64_t number;  // grows with every record: an input is always older than its output
  std::string_view op;
  std::vector<Input> inputs;
  std::uint32_t output_version;
  Backward backward;
  bool consumed = false;
};

bool grad_enabled();

// While one of these lives, nothing is recorded on this thread.
class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool before_;
};

// The name of the operation that made the tensor; "leaf" where none did.
std::string_view op_name(const Tensor& tensor);

void attach(const Tensor& output, std::string_view op, std::span<const Tensor> inputs, Backward backward);

// Records how `output` was made, if anybody can want its gradient, and returns it.
template <class Function>
Tensor record(Tensor output, std::string_view op, std::span<const Tensor> inputs, Function&& backward) {
  if (!grad_enabled()) return output;
  for (const Tensor& input : inputs)
    if (input.requires_grad()) {
      attach(output, op, inputs, std::forward<Function>(backward));
      break;
    }
  return output;
}

template <class Function>
Tensor record(Tensor output, std::string_view op, std::initializer_list<Tensor> inputs, Function&& backward) {
  return record(std::move(output), op, std::span(inputs.begin(), inputs.size()),
                std::forward<Function>(backward));
}

}  // namespace gradus
