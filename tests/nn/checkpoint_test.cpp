#include "nn/checkpoint.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "autograd/error.h"
#include "nn/safetensors.h"
#include "nn/text/byte_tokenizer.h"

using namespace gradus;
using namespace gradus::nn;

namespace {

struct TemporaryFolder {
  std::filesystem::path path;
  TemporaryFolder() {
    static int count = 0;
    path = std::filesystem::temp_directory_path() /
           ("gradus_checkpoint_" + std::to_string(sizeof(Real)) + "_" + std::to_string(count++));
    std::filesystem::remove_all(path);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
};

}  // namespace

static Decoder small(bool tied = true) {
  Decoder decoder({.width = 8, .n_layers = 2, .n_heads = 2, .n_kv_heads = 1, .hidden = 8, .context_length = 8, .tied_head = tied});
  Rng rng(1);
  initialise(decoder, rng);
  return decoder;
}

TEST_CASE("a model comes back from its folder with the same weights, tied or not") {
  for (bool tied : {true, false}) {
    const TemporaryFolder folder;
    const Decoder decoder = small(tied);
    save_model(folder.path, decoder, ByteTokenizer());
    const Model model = load_model(folder.path);
    const std::vector<Parameter> before = parameters(decoder), after = parameters(model.decoder);
    REQUIRE(before.size() == after.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
      CHECK(before[i].name == after[i].name);
      for (std::size_t j = 0; j < before[i].tensor.size(); ++j)
        REQUIRE(static_cast<float>(before[i].tensor.values()[j]) == static_cast<float>(after[i].tensor.values()[j]));
    }
    CHECK((model.decoder.head.weight == model.decoder.embedding.weight) == tied);
    CHECK(model.tokenizer->name() == "bytes");
  }
}

TEST_CASE("every tensor that is missing, unexpected or of another shape is listed before anything is loaded") {
  const TemporaryFolder folder;
  Decoder decoder = small();
  save_model(folder.path, decoder, ByteTokenizer());
  std::vector<NamedTensor> tensors;
  for (const Parameter& parameter : parameters(decoder)) {
    if (parameter.name == "norm.gain") continue;
    const bool odd = parameter.name == "layers.1.attention.key.weight";
    tensors.push_back({parameter.name, odd ? Tensor::zeros({3, 8}) : parameter.tensor});
  }
  tensors.push_back({"layers.2.extra", Tensor::zeros({2})});
  write_safetensors(folder.path / "model.safetensors", tensors);
  const std::string where = (folder.path / "model.safetensors").string() + ": does not fit " + (folder.path / "config.json").string() + ":";
  CHECK_THROWS_WITH_AS(load_model(folder.path),
                       (where + "\n  layers.1.attention.key.weight is (3, 8), the config makes it (4, 8)"
                                "\n  norm.gain (8) is missing"
                                "\n  layers.2.extra (2) is unexpected")
                           .c_str(),
                       FileError);
}

TEST_CASE("a model and a tokenizer that do not belong together are refused with both numbers") {
  const TemporaryFolder folder;
  save_model(folder.path, small(), ByteTokenizer());
  std::ofstream(folder.path / "tokenizer.json") << R"({"type": "chars", "vocabulary": ["a", "b"]})";
  CHECK_THROWS_WITH_AS(load_model(folder.path), doctest::Contains("the tokenizer has 2 tokens and the model's vocab_size is 256"),
                       FileError);
}

TEST_CASE("a folder that is no model is refused by its path") {
  CHECK_THROWS_WITH_AS(load_model("/no/such/folder"), doctest::Contains("/no/such/folder: no such folder"), FileError);
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path);
  CHECK_THROWS_WITH_AS(load_model(folder.path), doctest::Contains("config.json: cannot be read"), FileError);
}
