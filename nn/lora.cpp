#include "nn/lora.h"

#include <algorithm>
#include <cmath>

#include "autograd/error.h"
#include "autograd/ops/binary.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/pointwise.h"

namespace gradus::nn {

static Linear& projection(Block& block, const std::string& name) {
  if (name == "query") return block.attention.query;
  if (name == "key") return block.attention.key;
  if (name == "value") return block.attention.value;
  if (name == "output") return block.attention.output;
  if (name == "gate") return block.feed_forward.gate;
  if (name == "up") return block.feed_forward.up;
  expect(name == "down", "lora: there is no projection {}; there are query, key, value, output, gate, up, down", name);
  return block.feed_forward.down;
}

static std::string path_of(std::size_t layer, const std::string& name) {
  const bool feed_forward = name == "gate" || name == "up" || name == "down";
  return message("layers.{}.{}.{}", layer, feed_forward ? "feed_forward" : "attention", name);
}

Lora::Lora(Decoder& decoder, const LoraOptions& options, Rng& rng)
    : decoder_(decoder), scale_(options.alpha / static_cast<double>(std::max<std::size_t>(1, options.rank))) {
  expect(options.alpha > 0 && std::isfinite(options.alpha), "lora: alpha must be a number above 0, not {}", options.alpha);
  expect(!options.projections.empty(), "lora: name at least one projection, as in query and value");
  for (std::size_t i = 0; i < options.projections.size(); ++i)
    expect(std::count(options.projections.begin(), options.projections.end(), options.projections[i]) == 1,
           "lora: the projection {} is named twice", options.projections[i]);
  for (std::size_t layer = 0; layer < decoder.layers.size(); ++layer)
    for (const std::string& name : options.projections) {
      Linear& linear = projection(decoder.layers[layer], name);
      const std::size_t out = linear.weight.extent(0), in = linear.weight.extent(1);
      expect(options.rank > 0 && options.rank <= std::min(out, in),
             "lora: the rank must be 1 to {}, the smaller side of {} {}, not {}", std::min(out, in), path_of(layer, name),
             linear.weight.shape(), options.rank);
      Tensor a = parameter({options.rank, in});
      for (Real& value : a.mutable_values()) value = static_cast<Real>(rng.normal() / std::sqrt(static_cast<double>(in)));
      adapted_.push_back({&linear, linear.weight, a, Tensor::zeros({out, options.rank}).set_requires_grad(), path_of(layer, name)});
    }
  for (Parameter& frozen : nn::parameters(decoder)) frozen.tensor.set_requires_grad(false);
  rebind();
}

Tensor Lora::weight_of(const Adapted& adapted) const {
  return adapted.frozen + scale_ * matmul(adapted.b, adapted.a);
}

void Lora::rebind() {
  for (const Adapted& adapted : adapted_) adapted.linear->weight = weight_of(adapted);
}

std::vector<Parameter> Lora::parameters() const {
  std::vector<Parameter> list;
  for (const Adapted& adapted : adapted_) {
    list.push_back({adapted.name + ".lora_a", adapted.a});
    list.push_back({adapted.name + ".lora_b", adapted.b});
  }
  return list;
}

void Lora::merge() {
  const NoGrad guard;
  rebind();
  adapted_.clear();
  for (Parameter& trained : nn::parameters(decoder_)) trained.tensor.set_requires_grad();
}

}  // namespace gradus::nn
