#include "nn/config.h"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "autograd/error.h"
#include "nn/config_file.h"
#include "nn/swiglu.h"

using namespace gradus;
using namespace gradus::nn;

TEST_CASE("every preset is valid") {
  for (const Preset& preset : presets()) {
    CAPTURE(preset.name);
    CHECK_NOTHROW(preset.config.validate());
  }
}

TEST_CASE("a setting that no decoder can have is refused by its name and its numbers") {
  const auto refused = [](const Config& config, const char* message) {
    CHECK_THROWS_WITH_AS(config.validate(), message, ShapeError);
  };
  refused({.n_layers = 0}, "config: n_layers must be 1 or more, not 0");
  refused({.n_heads = 4, .n_kv_heads = 3},
          "config: n_heads 4 is not a multiple of n_kv_heads 3; every key and value head serves a whole group of queries");
  refused({.width = 130}, "config: width 130 is not a multiple of n_heads 4; change one of them or set head_dim");
  refused({.width = 20},
          "config: head_dim 5 is odd; rotary positions turn pairs, so it must be even (width 20 / n_heads 4)");
  refused({.rope_theta = 0}, "config: rope_theta must be a number above 0, not 0");
  refused({.norm_epsilon = NAN}, "config: norm_epsilon must be 0 or more, not nan");
  refused({.dropout = 1}, "config: dropout must be in [0, 1), not 1");
  refused({.vocab_size = std::size_t{1} << 31}, "config: vocab_size is 2147483648; it must be below 2147483648");
}

TEST_CASE("the usual hidden widths come from one rule") {
  CHECK(swiglu_hidden(4096, 256) == 11008);
  CHECK(swiglu_hidden(8192, 4096, 1.3) == 28672);
  CHECK(swiglu_hidden(288, 32) == 768);
  CHECK_THROWS_AS(swiglu_hidden(288, 0), ShapeError);
}

TEST_CASE("an unknown preset is refused with the list of those there are") {
  CHECK_THROWS_WITH_AS(find_preset("tiny"), "preset: there is no tiny; there are book, stories, shakespeare, minimind",
                       ShapeError);
}

namespace {

struct TemporaryFile {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("gradus_config_" + std::to_string(sizeof(Real)) + ".json");
  explicit TemporaryFile(const std::string& text) { std::ofstream(path) << text; }
  ~TemporaryFile() { std::filesystem::remove(path); }
};

}  // namespace

TEST_CASE("a config comes back from its file as it was") {
  for (const Preset& preset : presets()) {
    const std::string json = config_to_json(preset.config);
    const TemporaryFile file(json);
    CHECK(config_to_json(read_config(file.path)) == json);
  }
}

TEST_CASE("a config file is taken whole or refused, naming the file and the field") {
  const std::string good = config_to_json(find_preset("book").config);
  const auto refused = [&](const std::string& from, const std::string& to, const std::string& what) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    const TemporaryFile file(text);
    CHECK_THROWS_WITH_AS(read_config(file.path), (file.path.string() + ": " + what).c_str(), FileError);
  };
  refused("\"width\": 32", "\"width\": -32", "width must be a whole number of 0 or more, not -32");
  refused("\"width\": 32", "\"widht\": 32", "width is missing");
  refused("\"width\": 32", "\"width\": 32, \"depth\": 1", "depth is not a setting");
  refused("\"width\": 32", "\"width\": 33", "config: width 33 is not a multiple of n_heads 4; change one of them or set head_dim");
  refused("\"adjacent\"", "\"both\"", "config: rope_pairing is adjacent or half, not both");
  refused("\"gradus\"", "\"llama\"", "\"format\" must be \"gradus\"; this is another project's model");
  refused("{", "[", "not a JSON object");
}
