#include "nn/hugging_face.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "autograd/error.h"
#include "autograd/graph.h"
#include "nn/llama2c.h"
#include "nn/text/read_tokenizer.h"
#include "nn/weight_files.h"
#include "tests/nn/temporary_folder.h"
#include "tests/shared_data.h"

using namespace gradus;
using namespace gradus::nn;
namespace fs = std::filesystem;
using Json = nlohmann::json;

static Json json_of(const fs::path& path) { return Json::parse(bytes_of(path)); }

static double largest_difference(const Decoder& a, const Decoder& b, const std::vector<int>& ids) {
  const NoGrad guard;
  const Tensor x = a.logits(a.hidden(ids, 1)), y = b.logits(b.hidden(ids, 1));
  REQUIRE(x.shape() == y.shape());
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(x.values()[i]) - static_cast<double>(y.values()[i])));
  return worst;
}

static std::vector<int> some_ids(std::size_t count, std::size_t vocab_size) {
  Rng rng(3);
  std::vector<int> ids(count);
  for (int& id : ids) id = static_cast<int>(rng.below(vocab_size));
  return ids;
}

static Decoder random_decoder(const Config& config) {
  Decoder decoder(config);
  Rng rng(11);
  for (Parameter parameter : parameters(decoder))
    for (Real& value : parameter.tensor.mutable_values()) value = static_cast<Real>(0.3 * rng.normal());
  return decoder;
}

TEST_CASE("stories260K's Hugging Face copy and llama2.c's file are one model at every position") {
  if (absent()) return;
  const Decoder original = read_llama2c(data / "stories260K/stories260K.bin"), copy = read_hugging_face(data / "stories260K/hf");
  CHECK(count_parameters(copy) == 260032);
  for (const char* name : {"greedy-empty", "greedy-lily-and-tom", "greedy-once-upon-a-time"}) {
    const auto ids = json_of(data / "stories260K/golden" / (std::string(name) + ".json"))["input_ids"].get<std::vector<int>>();
    CHECK(largest_difference(original, copy, ids) < 1e-4);
  }
  CHECK(largest_difference(original, copy, some_ids(346, 512)) < 1e-4);
}

TEST_CASE("story656k loads as its authors saved it, its tied head under the head's name, and so does its BF16 copy, exactly") {
  if (absent()) return;
  const Decoder model = read_hugging_face(data / "story656k-hf"), copy = read_hugging_face(data / "story656k-hf-bf16");
  CHECK(count_parameters(model) == 656000);
  CHECK(model.config.norm_epsilon == 1e-6);
  CHECK(model.head.weight == model.embedding.weight);
  CHECK(largest_difference(model, copy, some_ids(128, 2048)) == 0);
}

TEST_CASE("a model of ours comes back from Hugging Face's layout as the same function") {
  const Config plain{.vocab_size = 37, .width = 24, .n_layers = 3, .n_heads = 4, .n_kv_heads = 2, .head_dim = 8, .hidden = 20, .context_length = 64};
  Config untied = plain, biased = plain, normalised = plain, halves = plain, stretched = plain;
  untied.tied_head = false;
  biased.attention_bias = true;
  normalised.query_key_norm = true;
  halves.rope_pairing = RopePairing::half;
  stretched.rope_scaling = {.kind = RopeScalingKind::llama3, .factor = 8, .original_context = 32, .beta_fast = 4};
  for (const Config& config : {plain, untied, biased, normalised, halves, stretched}) {
    const TemporaryFolder folder;
    const Decoder decoder = random_decoder(config);
    write_hugging_face(folder.path(), decoder, nullptr, exact_format);
    const Decoder back = read_hugging_face(folder.path());
    CHECK((back.head.weight == back.embedding.weight) == config.tied_head);
    CHECK(largest_difference(decoder, back, some_ids(20, 37)) < (sizeof(Real) == 8 ? 1e-13 : 2e-5));
    // The pairing once changed, nothing changes any more.
    write_hugging_face(folder / "again", back, nullptr, exact_format);
    CHECK(bytes_of(folder / "again" / "model.safetensors") == bytes_of(folder / "model.safetensors"));
    CHECK(bytes_of(folder / "again" / "config.json") == bytes_of(folder / "config.json"));
  }
}

TEST_CASE("weights of a model that pairs by halves come back bit for bit") {
  Config config{.vocab_size = 37, .width = 24, .n_layers = 2, .hidden = 20, .rope_pairing = RopePairing::half};
  const TemporaryFolder folder;
  const Decoder decoder = random_decoder(config);
  write_hugging_face(folder.path(), decoder, nullptr, exact_format);
  const Decoder back = read_hugging_face(folder.path());
  const std::vector<Parameter> before = parameters(decoder), after = parameters(back);
  REQUIRE(before.size() == after.size());
  for (std::size_t i = 0; i < before.size(); ++i) CHECK(std::ranges::equal(before[i].tensor.values(), after[i].tensor.values()));
  CHECK(largest_difference(decoder, back, some_ids(20, 37)) == 0);
}

// Names, shapes and header as the usual Python library writes them for the same architecture.
TEST_CASE("an exported folder has the form of a folder that Hugging Face's own library wrote") {
  if (absent()) return;
  const fs::path theirs = data / "story656k-hf";
  const TemporaryFolder folder;
  write_hugging_face(folder.path(), random_decoder(read_hugging_face_config(theirs / "config.json")),
                     read_tokenizer(theirs.string()).get());

  const Json expected = json_of(theirs / "config.json"), written = json_of(folder / "config.json");
  for (const auto& item : expected.items())
    if (item.key() != "transformers_version") CHECK_MESSAGE(written.value(item.key(), Json("absent")) == item.value(), item.key());
  for (const auto& item : written.items()) CHECK_MESSAGE((expected.contains(item.key()) || item.key() == "head_dim"), item.key());
  const Json generation = json_of(folder / "generation_config.json"), theirs_generation = json_of(theirs / "generation_config.json");
  for (const auto& [name, value] : generation.items()) CHECK(theirs_generation[name] == value);

  const SafetensorsFile ours(folder / "model.safetensors"), reference(theirs / "model.safetensors");
  CHECK(ours.metadata().at("format") == reference.metadata().at("format"));
  std::vector<std::string> names = reference.names();  // which has its tied matrix under the head's name
  std::ranges::replace(names, "lm_head.weight", "model.embed_tokens.weight");
  std::ranges::sort(names);
  CHECK(ours.names() == names);
  for (const std::string& name : names) {
    const std::string there = name == "model.embed_tokens.weight" ? "lm_head.weight" : name;
    CHECK(ours.shape(name) == reference.shape(there));
    CHECK(ours.dtype(name) == reference.dtype(there));
  }
  std::uint64_t length = 0;
  const std::string bytes = bytes_of(folder / "model.safetensors");
  std::copy_n(bytes.data(), 8, reinterpret_cast<char*>(&length));
  CHECK(length % 8 == 0);
}

namespace {

// A written model whose tensors a test can change before it is read.
struct Saved {
  TemporaryFolder folder;
  std::vector<NamedTensor> tensors;
  explicit Saved(bool tied) {
    write_hugging_face(folder.path(), random_decoder({.vocab_size = 5, .width = 4, .n_layers = 1, .n_heads = 2, .n_kv_heads = 1,
                                                      .hidden = 3, .tied_head = tied}));
    const SafetensorsFile file(folder / "model.safetensors");
    for (const std::string& name : file.names()) tensors.push_back({name, file.read(name)});
  }
  void erase(const std::string& name) {
    std::erase_if(tensors, [&](const NamedTensor& each) { return each.name == name; });
  }
  Tensor find(const std::string& name) const {
    return std::ranges::find(tensors, name, &NamedTensor::name)->tensor;
  }
  void add(const std::string& name, const Tensor& tensor) { tensors.push_back({name, tensor}); }
  Decoder read() const {
    write_safetensors(folder / "model.safetensors", tensors);
    return read_hugging_face(folder.path());
  }
  std::string refusal() const {
    try {
      read();
    } catch (const FileError& error) {
      const std::string text = error.what(), path = (folder / "model.safetensors").string() + ": ";
      REQUIRE(text.starts_with(path));
      return text.substr(path.size());
    }
    return "";
  }
};

}  // namespace

TEST_CASE("a tied matrix may be stored as embedding, as head, or as both if they are equal") {
  Saved saved(true);
  const Tensor matrix = saved.find("model.embed_tokens.weight");
  saved.add("lm_head.weight", matrix);
  CHECK(saved.refusal().empty());
  saved.erase("model.embed_tokens.weight");
  const Decoder decoder = saved.read();
  CHECK(decoder.head.weight == decoder.embedding.weight);
  CHECK(std::ranges::equal(decoder.embedding.weight.values(), matrix.values()));

  saved.add("model.embed_tokens.weight", Tensor::zeros({5, 4}));
  CHECK(saved.refusal() == "model.embed_tokens.weight and lm_head.weight differ, and the config says that they are one "
                           "(tie_word_embeddings); which is meant?");
}

TEST_CASE("an untied model needs both matrices") {
  Saved saved(false);
  saved.erase("lm_head.weight");
  const std::string title = "does not fit " + (saved.folder / "config.json").string() + ":";
  CHECK(saved.refusal() == title + "\n  lm_head.weight (5, 4) is missing");
}

TEST_CASE("all tensors that are missing, unexpected or of another shape are listed, and angles' speeds do not matter") {
  Saved saved(true);
  saved.add("model.layers.0.self_attn.rotary_emb.inv_freq", Tensor::zeros({1}));
  CHECK(saved.refusal().empty());
  saved.erase("model.norm.weight");
  saved.add("model.normal.weight", Tensor::zeros({4}));
  saved.erase("model.layers.0.mlp.up_proj.weight");
  saved.add("model.layers.0.mlp.up_proj.weight", Tensor::zeros({4, 3}));
  CHECK(saved.refusal() == "does not fit " + (saved.folder / "config.json").string() + ":"
                           "\n  model.layers.0.mlp.up_proj.weight is (4, 3), the config makes it (3, 4)"
                           "\n  model.norm.weight (4) is missing"
                           "\n  model.normal.weight (4) is unexpected");
}

TEST_CASE("a model of more layers than its file has is refused, listing all that lack") {
  const TemporaryFolder folder;
  const Config four{.vocab_size = 5, .width = 4, .n_layers = 4, .n_heads = 1, .n_kv_heads = 1, .hidden = 3};
  write_hugging_face(folder.path(), random_decoder(four));
  Config five = four;
  five.n_layers = 5;
  folder.write("config.json", config_to_hugging_face(five, {}, FloatFormat::f32));
  std::string text;
  try {
    read_hugging_face(folder.path());
  } catch (const FileError& error) {
    text = error.what();
  }
  CHECK(std::ranges::count(text, '\n') == 9);
  CHECK(text.find("\n  model.layers.4.self_attn.q_proj.weight (4, 4) is missing") != text.npos);
}
