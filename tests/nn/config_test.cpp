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
  refused({.n_heads = 2, .n_kv_heads = 1, .head_dim = std::size_t{1} << 30},
          "config: n_heads times head_dim is 2147483648; it must be below 2147483648");
  refused({.hidden = std::size_t{1} << 40}, "config: hidden is 1099511627776; it must be below 2147483648");
  refused({.vocab_size = std::size_t{1} << 31}, "config: vocab_size is 2147483648; it must be below 2147483648");
}

TEST_CASE("yarn's settings are checked where yarn is on, and not read where it is off") {
  Config config = find_preset("minimind").config;
  config.rope_scaling = {.factor = 16};
  CHECK_NOTHROW(config.validate());
  config.rope_scaling.kind = RopeScalingKind::yarn;
  CHECK_THROWS_WITH_AS(config.validate(),
                       "yarn: original_context must be 1 or more, not 0; it is the context of the training", ShapeError);
  config.rope_scaling.original_context = 2048;
  CHECK_NOTHROW(config.validate());
  config.rope_theta = 1;
  CHECK_THROWS_WITH_AS(config.validate(), "config: rope_theta must be above 1 for rope_scaling yarn, not 1", ShapeError);
}

// The numbers of parameters that the models' own authors and programs give.
TEST_CASE("the presets of known models have the known numbers of parameters") {
  const auto count = [](const char* name) { return find_preset(name).config.parameter_count(); };
  CHECK(count("book") == 19008);
  CHECK(count("stories260k") == 260032);
  CHECK(count("minimind") == 25829888);
  CHECK(count("minimind-3") == 63912192);
  CHECK(count("happy") == 82594560);
  CHECK(count("happy-215m") == 215127040);
}

TEST_CASE("the usual hidden widths come from one rule") {
  CHECK(swiglu_hidden(4096, 256) == 11008);
  CHECK(swiglu_hidden(8192, 4096, 1.3) == 28672);
  CHECK(swiglu_hidden(288, 32) == 768);
  CHECK_THROWS_AS(swiglu_hidden(288, 0), ShapeError);
}

TEST_CASE("an unknown preset is refused with the list of those there are") {
  CHECK_THROWS_WITH_AS(find_preset("tiny"), "preset: there is no tiny; there are book, stories, minute, five-minutes, thirty-minutes, shakespeare, stories260k, minimind, minimind-3, "
                       "happy, happy-215m",
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

TEST_CASE("every setting of a config file has its place in the config") {
  Config config = find_preset("book").config;
  config.rope_scaling = {.kind = RopeScalingKind::yarn, .factor = 4, .original_context = 16, .beta_fast = 8,
                         .beta_slow = 2, .attention_factor = 1.5};
  config.attention_bias = config.query_key_norm = true;
  config.tied_head = false;
  config.initialisation = Initialisation::plain;
  const std::string json = config_to_json(config);
  const TemporaryFile file(json);
  const Config again = read_config(file.path);
  CHECK(config_to_json(again) == json);
  CHECK(again.rope_scaling.kind == RopeScalingKind::yarn);
  CHECK(again.rope_scaling.factor == 4);
  CHECK(again.rope_scaling.original_context == 16);
  CHECK(again.rope_scaling.beta_fast == 8);
  CHECK(again.rope_scaling.beta_slow == 2);
  CHECK(again.rope_scaling.attention_factor == 1.5);
  CHECK(again.attention_bias);
  CHECK(again.query_key_norm);
  CHECK_FALSE(again.tied_head);
  CHECK(again.initialisation == Initialisation::plain);
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
  refused("\"none\"", "\"dynamic\"", "config: rope_scaling is none, linear, llama3 or yarn, not dynamic");
  refused("\"scaled\"", "\"small\"", "config: initialisation is scaled or plain, not small");
  refused("\"gradus\"", "\"llama\"", "\"format\" must be \"gradus\"; this is another project's model");
  refused("{", "[", "not a JSON object");
}
