// happy-llm's model: NAME.weights holds one, NAME.io what comes out of it, NAME.grads the gradients of its masked loss.
#include "autograd/ops/cross_entropy.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/slice.h"
#include "tests/golden/whole_decoder.h"

namespace gradus::golden {

static nn::Decoder reference(const File& file, File& weights) {
  const double rope_theta = file.has_text("rope_theta") ? file.json("rope_theta").get<double>() : 1e4;
  nn::Decoder decoder(happy_config(file.json("config"), rope_theta));
  load(decoder, weights, happy_place);
  return decoder;
}

static nn::Decoder reference(const File& file) {
  File weights = file.sibling("weights");
  return reference(file, weights);
}

static void read_weights(File& file) {
  file.count_case();
  compare_sizes(file, reference(file, file).config);
}

// Right padding changes no real row. A sequence that begins with padding is NaN upstream, all of it.
static void compare_padded(File& file, const std::string& side, const nn::Decoder& decoder) {
  const Batch ids = batch_of(file, side + "input_ids"), mask = batch_of(file, side + "mask");
  const std::size_t vocab_size = decoder.config.vocab_size;
  const Tensor logits = decoder.logits(decoder.hidden(ids.numbers, ids.rows, {.valid = mask.numbers}));
  std::vector<int> compared;
  std::vector<double> last;  // upstream takes the row sum(mask) − 1
  for (std::size_t b = 0; b < mask.rows; ++b) {
    const std::span<const int> row = mask.row(b);
    compared.push_back(row.front());
    const std::size_t tokens = static_cast<std::size_t>(std::ranges::count(row, 1));
    const std::size_t place = b * mask.time + std::max<std::size_t>(tokens, 1) - 1;
    const std::vector<double> picked = as_doubles(logits.values().subspan(place * vocab_size, vocab_size));
    last.insert(last.end(), picked.begin(), picked.end());
  }
  file.compare(side + "train.logits", logits, model, rows_kept(compared, mask.time * vocab_size));
  file.compare(side + "infer.logits", last, model, rows_kept(compared, vocab_size));
}

static void read_outputs(File& file) {
  file.count_case();
  nn::Decoder decoder = reference(file);
  const Batch ids = batch_of(file, "input_ids");
  compare_sizes(file, decoder.config);
  compare_hidden_states(file, decoder, ids);
  compare_logits(file, decoder, ids);
  const Tensor h = decoder.hidden(ids.numbers, ids.rows), logits = decoder.logits(h);
  file.compare("infer.logits_last", decoder.logits(slice(h, 1, ids.time - 1, ids.time)), model);

  const auto surprises = [&](const char* targets, int ignored) {
    return cross_entropy(logits, file.ids(targets), Reduction::none, ignored);
  };
  file.compare("loss_per_token", surprises("targets", 0), loss);
  file.compare("loss_per_token.f32", surprises("targets", 0), float_result(loss));
  file.compare("loss_per_token_padded", surprises("targets_padded", 0), loss);
  file.compare("loss_per_token_m100", surprises("targets_m100", -100), loss);
  file.compare("loss_mean", mean(surprises("targets", 0)), loss);
  file.compare("loss_masked_mean", happy_loss(logits, file.ids("targets"), file.ids("loss_mask")), loss);
  for (const std::string side : {"right.", "left."})
    if (file.has(side + "mask")) compare_padded(file, side, decoder);
}

static void read_gradients(File& file) {
  file.count_case();
  nn::Decoder decoder = reference(file);
  File io = file.sibling("io");
  const Batch ids = batch_of(io, "input_ids");
  for (nn::AttentionKind kind : {nn::AttentionKind::composed, nn::AttentionKind::fused}) {
    decoder.set_attention(kind);
    const Tensor logits = decoder.logits(decoder.hidden(ids.numbers, ids.rows));
    compare_gradients(file, decoder, happy_loss(logits, io.ids("targets"), io.ids("loss_mask")), happy_place, "grad.");
  }
}

static constexpr const char* embedding_name = "tok_embeddings.weight";
static const Kind weights("happy weights", model_file("weights", embedding_name), read_weights);
static const Kind outputs("happy io", model_file("io", embedding_name), read_outputs);
static const Kind gradients("happy grads", model_file("grads", embedding_name), read_gradients);

}  // namespace gradus::golden
