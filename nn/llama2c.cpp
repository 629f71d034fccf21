#include "nn/llama2c.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <span>
#include <string_view>

#include "autograd/error.h"
#include "nn/llama2c_layout.h"

namespace gradus::nn {

static_assert(std::endian::native == std::endian::little, "llama2.c files are little-endian: swap bytes here first");

using Path = std::filesystem::path;

static constexpr std::uint64_t header_bytes = 28;
static constexpr std::int32_t magic_of_later_versions = 0x616b3432;  // "ak42"

static constexpr std::array field_names = {"dim",        "hidden_dim", "n_layers", "n_heads",
                                           "n_kv_heads", "vocab_size", "seq_len"};
using Header = std::array<std::int32_t, field_names.size()>;
static_assert(sizeof(Header) == header_bytes);

static Header read_header(const Path& path, std::istream& stream, std::uint64_t size) {
  const std::string file = path.string();
  expect<FileError>(stream.good(), "{}: expected a llama2.c checkpoint, found a file that cannot be opened; is it "
                    "yours to read?", file);
  expect<FileError>(size >= header_bytes, "{}: expected a llama2.c checkpoint, which begins with a header of {} bytes, "
                    "found {} bytes in all", file, header_bytes, size);
  Header header{};
  stream.read(reinterpret_cast<char*>(header.data()), header_bytes);
  expect<FileError>(stream.good(), "{}: expected a header of {} bytes, found that they cannot be read", file,
                    header_bytes);
  expect<FileError>(header[0] != magic_of_later_versions, "{}: expected a llama2.c checkpoint of version 0, found one "
                    "of version {} (\"ak42\"); export it again with --version 0", file, header[1]);
  return header;
}

static Config config_of(const Path& path, const Header& header) {
  const std::string file = path.string();
  for (std::size_t i = 0; i < header.size(); ++i) {
    const bool may_be_negative = std::string_view(field_names[i]) == "vocab_size";
    expect<FileError>(header[i] > 0 || (may_be_negative && header[i] != 0), "{}: expected {} to be {}, found {}; is "
                      "this a llama2.c checkpoint?", file, field_names[i], may_be_negative ? "other than 0" : "above 0",
                      header[i]);
  }
  const auto [dim, hidden, layers, heads, kv_heads, vocabulary, context] = header;
  expect<FileError>(dim % heads == 0, "{}: expected n_heads to divide dim, found {} and {}", file, heads, dim);
  expect<FileError>(heads % kv_heads == 0, "{}: expected n_kv_heads to divide n_heads, found {} and {}", file, kv_heads,
                    heads);
  expect<FileError>(dim / heads % 2 == 0, "{}: expected heads of even size, found dim / n_heads = {} / {} = {}", file,
                    dim, heads, dim / heads);
  expect<FileError>(vocabulary >= -std::numeric_limits<std::int32_t>::max(), "{}: expected vocab_size to have an "
                    "opposite, found {}", file, vocabulary);
  return {.vocab_size = static_cast<std::size_t>(std::abs(vocabulary)),
          .width = static_cast<std::size_t>(dim),
          .n_layers = static_cast<std::size_t>(layers),
          .n_heads = static_cast<std::size_t>(heads),
          .n_kv_heads = static_cast<std::size_t>(kv_heads),
          .hidden = static_cast<std::size_t>(hidden),
          .context_length = static_cast<std::size_t>(context),
          .rope_theta = 10000,
          .rope_pairing = RopePairing::adjacent,
          .norm_epsilon = 1e-5,
          .tied_head = vocabulary > 0};
}

// Far above any file, and so far below 2⁶⁴ that a sum of some such products does not overflow.
static constexpr std::uint64_t most_floats = std::uint64_t{1} << 56;

// The product, or most_floats where it is larger.
static std::uint64_t product(std::initializer_list<std::uint64_t> factors) {
  std::uint64_t result = 1;
  for (const std::uint64_t factor : factors) result = result > most_floats / factor ? most_floats : result * factor;
  return result;
}

static void check_size(const Path& path, const Config& config, std::uint64_t found) {
  const std::uint64_t layers = config.n_layers, width = config.width, head_dim = config.resolved_head_dim();
  const std::uint64_t keys = config.n_kv_heads * head_dim;
  const std::uint64_t embedding = product({config.vocab_size, width});
  const std::uint64_t floats = embedding + (config.tied_head ? 0 : embedding)
                               + 2 * product({layers, width})             // norms
                               + 2 * product({layers, width, width})      // queries and outputs
                               + 2 * product({layers, keys, width})       // keys and values
                               + 3 * product({layers, config.hidden, width})
                               + width                                    // final norm
                               + product({config.context_length, head_dim});  // both tables, of half a head each
  expect<FileError>(floats < most_floats, "{}: expected the sizes of a model, found a header whose matrices have more "
                    "numbers than can be counted; is this a llama2.c checkpoint?", path.string());
  expect<FileError>(found == header_bytes + sizeof(float) * floats, "{}: expected {} bytes, found {}; {}",
                    path.string(), header_bytes + sizeof(float) * floats, found,
                    found < header_bytes + sizeof(float) * floats ? "was the file cut off?"
                                                                  : "is this a llama2.c checkpoint?");
}

// The file holds floats, whatever Real is.
static void read_into(std::istream& stream, Tensor& tensor) {
  const std::span<Real> values = tensor.mutable_values();
  std::array<float, 4096> part;
  for (std::size_t done = 0; done < values.size() && stream; done += part.size()) {
    const std::size_t count = std::min(part.size(), values.size() - done);
    stream.read(reinterpret_cast<char*>(part.data()), static_cast<std::streamsize>(count * sizeof(float)));
    std::copy_n(part.begin(), count, values.begin() + static_cast<std::ptrdiff_t>(done));
  }
}

static void read_table(std::istream& stream, std::vector<float>& table, std::size_t count) {
  table.resize(count);
  stream.read(reinterpret_cast<char*>(table.data()), static_cast<std::streamsize>(count * sizeof(float)));
}

// The settings, with the stream behind them.
static Config read_checked_header(const Path& path, std::ifstream& stream) {
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  expect<FileError>(!error, "{}: expected a llama2.c checkpoint, found: {}", path.string(), error.message());
  stream.open(path, std::ios::binary);
  const Config config = config_of(path, read_header(path, stream, size));
  check_size(path, config, size);
  return config;
}

Config read_llama2c_config(const Path& path) {
  std::ifstream stream;
  return read_checked_header(path, stream);
}

Decoder read_llama2c(const Path& path, Llama2cTables* tables) {
  std::ifstream stream;
  const Config config = read_checked_header(path, stream);
  Decoder decoder(config);
  for_each_before_tables(decoder, [&](Tensor& tensor) { read_into(stream, tensor); });
  Llama2cTables unused;
  const std::size_t numbers = config.context_length * config.resolved_head_dim() / 2;
  for (std::vector<float> Llama2cTables::*table : {&Llama2cTables::cosine, &Llama2cTables::sine})
    read_table(stream, (tables != nullptr ? *tables : unused).*table, numbers);
  if (!config.tied_head) read_into(stream, decoder.head.weight);
  expect<FileError>(stream.good(), "{}: expected as many bytes as before, found that they can no longer be read; was "
                    "the file changed meanwhile?", path.string());
  return decoder;
}

}  // namespace gradus::nn
