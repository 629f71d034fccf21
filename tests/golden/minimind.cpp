// minimind's model: NAME.weights holds one, NAME.io what comes out of it, NAME.grads the gradients of its loss,
// NAME.masks the same with padding.
#include <cmath>

#include "autograd/graph.h"
#include "autograd/ops/concat.h"
#include "autograd/ops/cross_entropy.h"
#include "autograd/ops/slice.h"
#include "nn/kv_cache.h"
#include "tests/golden/whole_decoder.h"

namespace gradus::golden {

static nn::Decoder reference(const File& file, File& weights) {
  const Json scaling = file.has_text("rope_scaling") ? file.json("rope_scaling") : Json();
  nn::Decoder decoder(minimind_config(file.json("config"), scaling));
  load(decoder, weights, minimind_place);
  return decoder;
}

static nn::Decoder reference(const File& file) {
  File weights = file.sibling("weights");
  return reference(file, weights);
}

static Tensor mean_surprise(const nn::Decoder& decoder, const Batch& ids, const Batch& labels,
                            const nn::Context& context = {}) {
  return decoder.loss(ids.numbers, shifted(labels), ids.rows, context);
}

static void read_weights(File& file) {
  file.count_case();
  compare_sizes(file, reference(file, file).config);
}

static void compare_gradient_lengths(File& file, const nn::Decoder& decoder) {
  const std::vector<double> lengths = file.numbers("grad_l2.f32");
  const Json order = file.json("param_order");
  for (const nn::Parameter& parameter : nn::parameters(decoder)) {
    const std::string theirs = minimind_place(parameter.name).tensor;
    const auto place = static_cast<std::size_t>(std::ranges::find(order, Json(theirs)) - order.begin());
    double squares = 0;
    for (Real g : parameter.tensor.grad()) squares += static_cast<double>(g) * static_cast<double>(g);
    file.compare_numbers("grad_l2.f32 of " + theirs, std::vector{std::sqrt(squares)},
                         std::span(lengths).subspan(place, 1), float_result(model));
  }
}

// The first `length` tokens of every row; all rows of a reference cache are equally long.
static void compare_cache(File& file, const std::string& when, const nn::KVCache& cache, std::size_t n_layers) {
  for (std::size_t layer = 0; layer < n_layers; ++layer) {
    const std::string number = std::to_string(layer);
    file.compare(when + "k" + number, slice(cache.keys(layer), 1, 0, cache.length(0)), model);
    file.compare(when + "v" + number, slice(cache.values(layer), 1, 0, cache.length(0)), model);
  }
}

// The same text read in pieces, each behind the ones before it.
static void compare_cached(File& file, const nn::Decoder& decoder, const Batch& ids) {
  const NoGrad guard;
  const Json kv = file.json("kv");
  std::vector<std::size_t> pieces = kv["chunks"];
  pieces.insert(pieces.begin(), kv["prefill"].get<std::size_t>());

  nn::KVCache cache(decoder.config, ids.rows, ids.time);
  std::vector<Tensor> logits;
  std::size_t begin = 0;
  for (std::size_t length : pieces) {
    std::vector<int> piece;
    for (std::size_t b = 0; b < ids.rows; ++b) {
      const std::span<const int> part = ids.row(b).subspan(begin, length);
      piece.insert(piece.end(), part.begin(), part.end());
    }
    logits.push_back(decoder.logits(decoder.hidden(piece, ids.rows, {.cache = &cache})));
    if (begin == 0) compare_cache(file, "cache.prefill.", cache, decoder.layers.size());
    begin += length;
  }
  compare_cache(file, "cache.final.", cache, decoder.layers.size());
  file.compare("logits_cached", concat(logits, 1), model);
}

static void read_outputs(File& file) {
  file.count_case();
  nn::Decoder decoder = reference(file);
  const Batch ids = batch_of(file, "input_ids"), labels = batch_of(file, "labels");
  compare_sizes(file, decoder.config);
  compare_hidden_states(file, decoder, ids);
  compare_logits(file, decoder, ids);
  for (nn::AttentionKind kind : {nn::AttentionKind::composed, nn::AttentionKind::fused}) {
    decoder.set_attention(kind);
    compare_cached(file, decoder, ids);
  }
  const Tensor h = decoder.hidden(ids.numbers, ids.rows);
  file.compare("logits_to_keep2", decoder.logits(slice(h, 1, ids.time - 2, ids.time)), model);

  file.compare("loss_all_labels", mean_surprise(decoder, ids, ids), loss);
  const Tensor surprise = mean_surprise(decoder, ids, labels);
  file.compare("loss", surprise, loss);
  file.compare("loss.f32", surprise, float_result(loss));
  surprise.backward();
  compare_gradient_lengths(file, decoder);
}

static void read_gradients(File& file) {
  file.count_case();
  nn::Decoder decoder = reference(file);
  File io = file.sibling("io");
  for (nn::AttentionKind kind : {nn::AttentionKind::composed, nn::AttentionKind::fused}) {
    decoder.set_attention(kind);
    compare_gradients(file, decoder, mean_surprise(decoder, batch_of(io, "input_ids"), batch_of(io, "labels")),
                      minimind_place, "grad.");
  }
}

// 0 where a token and all before it are padding. Upstream adds −1e9 to every score there, which leaves numbers without
// a meaning; ours are zeros.
static std::vector<int> live_rows(const Batch& mask) {
  std::vector<int> live = mask.numbers;
  for (std::size_t i = 0; i < live.size(); ++i)
    if (i % mask.time != 0) live[i] |= live[i - 1];
  return live;
}

static void read_masks(File& file, const std::string& side, const nn::Decoder& decoder) {
  const Batch ids = batch_of(file, side + "input_ids"), mask = batch_of(file, side + "mask");
  const nn::Context context{.valid = mask.numbers};
  const std::vector<int> live = live_rows(mask);
  const Tensor logits = decoder.logits(decoder.hidden(ids.numbers, ids.rows, context));
  file.count_case();
  file.compare(side + "logits", logits, model, rows_kept(live, decoder.config.vocab_size));
  file.compare(side + "logits.f32", logits, float_result(model), rows_kept(live, decoder.config.vocab_size));

  for (const std::string number : {"", "2"}) {
    const Batch labels = batch_of(file, side + "labels" + number);
    const std::vector<int> targets = shifted(labels);
    bool asks_dead_row = false;
    for (std::size_t i = 0; i < targets.size(); ++i) asks_dead_row |= live[i] == 0 && targets[i] != ignore_index;
    if (asks_dead_row) {
      file.by_rule(side + "loss" + number);
      file.by_rule_where([&](const std::string& name) { return name.starts_with(side + "grad" + number + "."); });
      continue;
    }
    const Tensor surprise = mean_surprise(decoder, ids, labels, context);
    file.compare(side + "loss" + number, surprise, loss);
    compare_gradients(file, decoder, surprise, minimind_place, side + "grad" + number + ".");
  }
}

static void read_all_masks(File& file) {
  nn::Decoder decoder = reference(file);
  for (nn::AttentionKind kind : {nn::AttentionKind::composed, nn::AttentionKind::fused}) {
    decoder.set_attention(kind);
    for (const char* side : {"right/", "left/"})
      if (file.has(std::string(side) + "mask")) read_masks(file, side, decoder);
  }
}

static constexpr const char* embedding_name = "model.embed_tokens.weight";
static const Kind weights("minimind weights", model_file("weights", embedding_name), read_weights);
static const Kind outputs("minimind io", model_file("io", embedding_name), read_outputs);
static const Kind gradients("minimind grads", model_file("grads", embedding_name), read_gradients);
static const Kind masks("minimind masks", model_file("masks", embedding_name), read_all_masks);

}  // namespace gradus::golden
