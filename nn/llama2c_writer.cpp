#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "autograd/error.h"
#include "nn/atomic_file.h"
#include "nn/llama2c.h"
#include "nn/llama2c_layout.h"
#include "nn/with_pairing.h"

namespace gradus::nn {

static_assert(std::endian::native == std::endian::little, "llama2.c files are little-endian: swap bytes here first");

static void expect_what_the_format_fixes(const Config& c) {
  const auto fixed = [](bool holds, std::string_view setting, const auto& value, std::string_view only) {
    expect(holds, "llama2.c: {} is {}, and every model of this format has {}; write it as a Hugging Face folder",
           setting, value, only);
  };
  fixed(c.rope_theta == 10000, "rope_theta", c.rope_theta, "10000");
  fixed(c.rope_scaling.kind == RopeScalingKind::none, "rope_scaling", word_of(c.rope_scaling.kind), "none");
  fixed(c.norm_epsilon == 1e-5, "norm_epsilon", c.norm_epsilon, "1e-05");
  fixed(!c.attention_bias, "attention_bias", "true", "none");
  fixed(!c.query_key_norm, "query_key_norm", "true", "none");
  fixed(c.resolved_head_dim() * c.n_heads == c.width, "head_dim", c.resolved_head_dim(), "width / n_heads");
}

static void write_floats(AtomicFile& file, std::span<const Real> values) {
  std::array<float, 4096> part;
  for (std::size_t done = 0; done < values.size(); done += part.size()) {
    const std::size_t count = std::min(part.size(), values.size() - done);
    std::ranges::transform(values.subspan(done, count), part.begin(), [](Real x) { return static_cast<float>(x); });
    file.write(part.data(), count * sizeof(float));
  }
}

static Llama2cTables computed(const Config& config) {
  const RopeTable table = rope_table(config.context_length, config.resolved_head_dim(), config.rope_theta);
  return {{table.cosine.values().begin(), table.cosine.values().end()},
          {table.sine.values().begin(), table.sine.values().end()}};
}

void write_llama2c(const std::filesystem::path& path, const Decoder& decoder, const Llama2cTables& tables) {
  const Config& config = decoder.config;
  expect_what_the_format_fixes(config);
  const std::size_t numbers = config.context_length * config.resolved_head_dim() / 2;
  const Llama2cTables angles = tables.cosine.empty() ? computed(config) : tables;
  expect(angles.cosine.size() == numbers && angles.sine.size() == numbers, "llama2.c: the tables have {} and {} "
         "numbers, the model needs {}; they are another model's", angles.cosine.size(), angles.sine.size(), numbers);

  const auto field = [](std::size_t value) { return static_cast<std::int32_t>(value); };  // Config keeps them small
  const std::int32_t vocabulary = field(config.vocab_size);
  const std::int32_t header[] = {field(config.width),      field(config.resolved_hidden()),
                                 field(config.n_layers),   field(config.n_heads),
                                 field(config.n_kv_heads), config.tied_head ? vocabulary : -vocabulary,
                                 field(config.context_length)};
  AtomicFile file(path);
  file.write(header, sizeof header);
  for_each_before_tables(with_pairing(RopePairing::adjacent, decoder),
                         [&](const Tensor& tensor) { write_floats(file, tensor.values()); });
  file.write(angles.cosine.data(), numbers * sizeof(float));
  file.write(angles.sine.data(), numbers * sizeof(float));
  if (!config.tied_head) write_floats(file, decoder.head.weight.values());
  file.commit();
}

}  // namespace gradus::nn
