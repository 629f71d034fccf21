// The order of llama2.c's version 0, for whoever reads or writes it.
#pragma once

#include "nn/decoder.h"

namespace gradus::nn {

// Calls visit(tensor) for every tensor that stands before the tables of angles, in the file's order. An untied head
// stands behind them.
void for_each_before_tables(auto&& decoder, const auto& visit) {
  const auto of_each_layer = [&](const auto& tensor_of) {
    for (auto& layer : decoder.layers) visit(tensor_of(layer));
  };
  visit(decoder.embedding.weight);
  of_each_layer([](auto& layer) -> auto& { return layer.attention_norm.gain; });
  of_each_layer([](auto& layer) -> auto& { return layer.attention.query.weight; });
  of_each_layer([](auto& layer) -> auto& { return layer.attention.key.weight; });
  of_each_layer([](auto& layer) -> auto& { return layer.attention.value.weight; });
  of_each_layer([](auto& layer) -> auto& { return layer.attention.output.weight; });
  of_each_layer([](auto& layer) -> auto& { return layer.feed_forward_norm.gain; });
  of_each_layer([](auto& layer) -> auto& { return layer.feed_forward.gate.weight; });
  of_each_layer([](auto& layer) -> auto& { return layer.feed_forward.down.weight; });
  of_each_layer([](auto& layer) -> auto& { return layer.feed_forward.up.weight; });
  visit(decoder.norm.gain);
}

}  // namespace gradus::nn
