// Chapter 15: a model goes out into other programs' files and comes back, and what can happen to it on the way.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "autograd/error.h"
#include "autograd/graph.h"
#include "nn/checkpoint.h"
#include "nn/hugging_face.h"
#include "nn/llama2c.h"
#include "nn/text/byte_tokenizer.h"
#include "nn/text/text_file.h"

using namespace gradus;
using namespace gradus::nn;
namespace fs = std::filesystem;

static const fs::path folder = fs::temp_directory_path() / ("gradus_chapter_15_" + std::to_string(getpid()));
static constexpr std::size_t T = 64, places[] = {0, 1, 2, 4, 8, 16, 32, 63};

static Decoder some_model() {
  Decoder decoder({.width = 32, .n_layers = 3, .n_heads = 4, .n_kv_heads = 2, .hidden = 48, .context_length = T});
  Rng rng(15);
  for (Parameter parameter : parameters(decoder))
    for (Real& value : parameter.tensor.mutable_values())
      value = static_cast<Real>(parameter.name.ends_with("gain") ? 0.5 + rng.uniform() : 0.25 * rng.normal());
  return decoder;
}

static void first_bytes(const fs::path& path) {
  const std::string bytes = read_text_file(path, "a checkpoint");
  std::printf("1. The first bytes of %s\n\n ", path.filename().c_str());
  for (std::size_t i = 0; i < 8; ++i) std::printf(" %02x", static_cast<unsigned>(static_cast<unsigned char>(bytes[i])));
  std::printf("\n  %s …\n", bytes.substr(8, 178).c_str());
}

// At each position of a text of T tokens, the largest difference between the two models' logits.
static std::vector<double> differences(const Decoder& a, const Decoder& b) {
  const NoGrad guard;
  std::vector<int> ids(T);
  for (std::size_t t = 0; t < T; ++t) ids[t] = static_cast<int>(37 * t % 256);
  const Tensor x = a.logits(a.hidden(ids, 1)), y = b.logits(b.hidden(ids, 1));
  std::vector<double> largest(T);
  for (std::size_t i = 0; i < x.size(); ++i)
    largest[i / 256] = std::max(largest[i / 256], std::abs(static_cast<double>(x.values()[i] - y.values()[i])));
  return largest;
}

static std::vector<double> report(const char* what, const Decoder& original, const Decoder& other) {
  const std::vector<double> apart = differences(original, other);
  std::printf("  %-28s", what);
  for (const std::size_t place : places) std::printf(" %7.0e", apart[place]);
  std::printf("\n");
  return apart;
}

static void headline(const char* title) {
  std::printf("\n%s\n\n  %-28s", title, "at position");
  for (const std::size_t place : places) std::printf(" %7zu", place);
  std::printf("\n");
}

// The same weights under another setting.
static Decoder with(const Decoder& decoder, const std::function<void(Config&)>& change) {
  Config config = decoder.config;
  change(config);
  Decoder other(config);
  std::vector<Parameter> to = parameters(other);
  for (std::size_t i = 0; const Parameter& from : parameters(decoder))
    std::ranges::copy(from.tensor.values(), to[i++].tensor.mutable_values().begin());
  return other;
}

static bool mistakes(const Decoder& model, const Decoder& halves) {
  headline("3. One convention mistaken");
  const auto pairing = report("the pairing", model, with(halves, [](Config& c) { c.rope_pairing = RopePairing::adjacent; }));
  report("theta 500,000 for 10,000", model, with(model, [](Config& c) { c.rope_theta = 5e5; }));
  report("epsilon 1e-6 for 1e-5", model, with(model, [](Config& c) { c.norm_epsilon = 1e-6; }));
  Decoder exchanged = model;
  for (Block& layer : exchanged.layers) std::swap(layer.feed_forward.gate, layer.feed_forward.up);
  const auto gates = report("gate and up exchanged", model, exchanged);
  return pairing[0] < 1e-4 && pairing[T - 1] > 0.1 && gates[0] > 0.1;
}

static bool refused(const char* what, std::string bytes, const std::function<void(std::string&)>& damage) {
  damage(bytes);
  const fs::path path = folder / "damaged.safetensors";
  std::ofstream(path, std::ios::binary) << bytes;
  try {
    const SafetensorsFile file(path);
    return false;
  } catch (const FileError& error) {
    std::printf("  %-22s %s\n", what, std::string(error.what()).substr(path.string().size() + 2).c_str());
    return true;
  }
}

static bool damages() {
  const std::vector<NamedTensor> tensors = {{"a", Tensor({2}, {1, 2})}, {"b", Tensor({2}, {3, 4})}};
  write_safetensors(folder / "good.safetensors", tensors);
  const std::string good = read_text_file(folder / "good.safetensors", "a checkpoint");
  const auto replace = [](const char* from, const char* to) {
    return [=](std::string& bytes) { bytes.replace(bytes.find(from), std::string(from).size(), to); };
  };
  std::printf("\n4. A file is a stranger\n\n");
  const bool cut = refused("cut off", good, [](std::string& bytes) { bytes.pop_back(); });
  const bool length = refused("a length out of reach", good, [](std::string& bytes) { bytes[7] = '\x7f'; });
  const bool overlap = refused("two tensors in a place", good, replace("[8,16]", "[0,8] "));
  const bool shape = refused("a shape too large", good, replace("[2]", "[9]"));
  return cut && length && overlap && shape;
}

int main() {
  const Decoder model = some_model();
  save_model(folder / "gradus", model, ByteTokenizer());
  write_hugging_face(folder / "hf", model);
  write_hugging_face(folder / "bf16", model, nullptr, FloatFormat::bf16);
  write_llama2c(folder / "model.bin", model);
  first_bytes(folder / "gradus/model.safetensors");

  headline("2. There and back");
  const Decoder halves = read_hugging_face(folder / "hf");
  const auto ours = report("as a folder of ours", model, load_decoder(folder / "gradus"));
  const auto theirs = report("as Hugging Face has it", model, halves);
  const auto llama2c = report("as llama2.c has it", model, read_llama2c(folder / "model.bin"));
  report("in 16 bits", model, read_hugging_face(folder / "bf16"));
  const bool same = std::ranges::max(ours) == 0 && std::ranges::max(theirs) < 1e-4 && std::ranges::max(llama2c) < 1e-4;

  const bool seen = mistakes(model, halves), safe = damages();
  fs::remove_all(folder);
  return same && seen && safe ? 0 : 1;
}
