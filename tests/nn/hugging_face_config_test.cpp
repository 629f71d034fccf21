#include "nn/hugging_face_config.h"

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "autograd/error.h"
#include "tests/nn/temporary_folder.h"

using namespace gradus;
using namespace gradus::nn;
using Json = nlohmann::json;

static Json llama() {
  return {{"architectures", {"LlamaForCausalLM"}}, {"hidden_act", "silu"}, {"hidden_size", 64}, {"intermediate_size", 172},
          {"num_hidden_layers", 5}, {"num_attention_heads", 8}, {"num_key_value_heads", 4}, {"vocab_size", 512},
          {"max_position_embeddings", 512}, {"rms_norm_eps", 1e-6}, {"rope_theta", 5e5}, {"rope_scaling", nullptr},
          {"tie_word_embeddings", true}, {"torch_dtype", "float32"}};
}

static Config read(const Json& json) { return config_from_hugging_face(json.dump(), "config.json"); }

static Json with(Json json, const Json& changes) {
  for (const auto& [name, value] : changes.items()) json[name] = value;
  return json;
}

static void refused(const Json& json, const std::string& what) {
  CHECK_THROWS_WITH_AS(read(json), ("config.json: " + what).c_str(), FileError);
}

TEST_CASE("every setting of a Hugging Face config has its place in ours") {
  const Config config = read(llama());
  CHECK(config.vocab_size == 512);
  CHECK(config.width == 64);
  CHECK(config.n_layers == 5);
  CHECK(config.n_heads == 8);
  CHECK(config.n_kv_heads == 4);
  CHECK(config.resolved_head_dim() == 8);
  CHECK(config.hidden == 172);
  CHECK(config.context_length == 512);
  CHECK(config.rope_theta == 5e5);
  CHECK(config.rope_pairing == RopePairing::half);
  CHECK(config.rope_scaling.kind == RopeScalingKind::none);
  CHECK(config.norm_epsilon == 1e-6);
  CHECK(config.tied_head);
  CHECK_FALSE(config.attention_bias);
  CHECK_FALSE(config.query_key_norm);
  CHECK(read(with(llama(), {{"head_dim", 32}})).resolved_head_dim() == 32);
}

TEST_CASE("each architecture has its biases, its norms and its own values for what a config leaves out") {
  Json sparse = llama();
  for (const char* name : {"num_key_value_heads", "rope_theta", "tie_word_embeddings", "rope_scaling"}) sparse.erase(name);
  CHECK(read(sparse).n_kv_heads == 8);
  CHECK(read(sparse).rope_theta == 10000);
  CHECK_FALSE(read(sparse).tied_head);
  CHECK(read(with(llama(), {{"architectures", {"Qwen2ForCausalLM"}}})).attention_bias);
  CHECK(read(with(llama(), {{"architectures", {"Qwen3ForCausalLM"}}, {"head_dim", 16}})).query_key_norm);
  CHECK_NOTHROW(read(with(llama(), {{"architectures", {"MistralForCausalLM"}}, {"sliding_window", 4096}})));
  refused(with(llama(), {{"architectures", {"Qwen3ForCausalLM"}}}),
          "expected head_dim to be a whole number of 0 or more, found no such setting");
  refused(with(sparse, {{"architectures", {"MistralForCausalLM"}}}),
          "expected num_key_value_heads to be a whole number of 0 or more, found no such setting");
}

TEST_CASE("the scalings linear, llama3 and yarn are read, under older and newer names") {
  const auto scaled = [](const Json& scaling) { return read(with(llama(), {{"rope_scaling", scaling}})); };
  CHECK(scaled({{"rope_type", "default"}}).rope_scaling.kind == RopeScalingKind::none);
  CHECK(scaled({{"type", "linear"}, {"factor", 2}}).rope_scaling.kind == RopeScalingKind::linear);
  CHECK(scaled({{"type", "linear"}, {"factor", 2}}).rope_scaling.factor == 2);

  const RopeScaling three = scaled({{"rope_type", "llama3"}, {"factor", 8.0}, {"low_freq_factor", 1.0}, {"high_freq_factor", 4.0},
                                    {"original_max_position_embeddings", 256}}).rope_scaling;
  CHECK(three.kind == RopeScalingKind::llama3);
  CHECK(three.factor == 8);
  CHECK(three.beta_fast == 4);
  CHECK(three.beta_slow == 1);
  CHECK(three.original_context == 256);

  const Config yarn = scaled({{"type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 256}});
  CHECK(yarn.rope_scaling.kind == RopeScalingKind::yarn);
  CHECK(yarn.rope_scaling.attention_factor == doctest::Approx(0.1 * std::log(4) + 1));
  CHECK(yarn.rope_scaling.beta_fast == 32);
  CHECK(yarn.context_length == 1024);  // what it is for, not only the 512 of max_position_embeddings

  Json newer = with(llama(), {{"rope_parameters", {{"rope_type", "linear"}, {"factor", 2}, {"rope_theta", 1e6}}}});
  newer.erase("rope_theta");
  newer.erase("rope_scaling");
  CHECK(read(newer).rope_theta == 1e6);
  CHECK(read(newer).rope_scaling.factor == 2);

  const auto no = [](const Json& scaling, const std::string& what) { refused(with(llama(), {{"rope_scaling", scaling}}), what); };
  no({{"type", "dynamic"}, {"factor", 2}},
     "rope_scaling.type is \"dynamic\": the kinds default, linear, llama3 and yarn are supported");
  no({{"type", "linear"}, {"rope_type", "yarn"}, {"factor", 2}}, "rope_scaling.type is \"linear\": rope_type says otherwise");
  no({{"type", "linear"}}, "expected rope_scaling.factor to be a number, found no such setting");
  no({{"type", "linear"}, {"factor", 0}}, "linear: factor must be above 0, not 0");
  no({{"type", "linear"}, {"factor", 2}, {"mrope_section", {1}}},
     "rope_scaling.mrope_section is [1]: this is not supported for this kind of scaling");
  no({{"type", "yarn"}, {"factor", 4}, {"truncate", false}}, "rope_scaling.truncate is false: only true is supported");
  no({{"type", "yarn"}, {"factor", 4}, {"original_max_position_embeddings", 10000000}},
     "rope_scaling.original_max_position_embeddings is 10000000: for this rope_theta YaRN's ramp would end outside the head, "
     "which is computed otherwise here");
  no("yarn", "expected rope_scaling to be an object, found \"yarn\"");
  refused(with(llama(), {{"rope_scaling", {{"type", "default"}}}, {"rope_parameters", {{"rope_type", "default"}}}}),
          "rope_scaling is {\"type\":\"default\"}: rope_parameters is there too; keep one of them");
}

TEST_CASE("a setting that would change the numbers is refused by its name") {
  const auto no = [](const Json& changes, const std::string& what) { refused(with(llama(), changes), what); };
  no({{"architectures", {"MixtralForCausalLM"}}},
     "architectures is [\"MixtralForCausalLM\"]: supported are LlamaForCausalLM, MistralForCausalLM, Qwen2ForCausalLM and "
     "Qwen3ForCausalLM");
  no({{"architectures", Json::array()}}, "architectures is []: supported are LlamaForCausalLM, MistralForCausalLM, "
     "Qwen2ForCausalLM and Qwen3ForCausalLM");
  no({{"hidden_act", "gelu"}}, "hidden_act is \"gelu\": only silu is supported");
  no({{"attention_bias", true}}, "attention_bias is true: a bias on attention's output is not supported");
  no({{"mlp_bias", true}}, "mlp_bias is true: biases in the feed-forward layer are not supported");
  no({{"architectures", {"MistralForCausalLM"}}, {"sliding_window", 256}},
     "sliding_window is 256: a window below max_position_embeddings is not supported; with max_position_embeddings of that "
     "number the file says what both can compute");
  no({{"architectures", {"Qwen2ForCausalLM"}}, {"use_sliding_window", true}},
     "use_sliding_window is true: attention that sees only a window is not supported");
  no({{"layer_types", {"full_attention", "sliding_attention"}}},
     "layer_types is [\"full_attention\",\"sliding_attention\"]: only full_attention is supported");
  no({{"quantization_config", {{"bits", 4}}}}, "quantization_config is {\"bits\":4}: this is not supported");
}

TEST_CASE("a Hugging Face config that is malformed is refused, naming the setting") {
  const auto no = [](const Json& changes, const std::string& what) { refused(with(llama(), changes), what); };
  no({{"vocab_size", -1}}, "expected vocab_size to be a whole number of 0 or more, found -1");
  no({{"vocab_size", 1e3}}, "expected vocab_size to be a whole number of 0 or more, found 1000.0");
  no({{"rms_norm_eps", "1e-6"}}, "expected rms_norm_eps to be a number, found \"1e-6\"");
  no({{"tie_word_embeddings", 1}}, "expected tie_word_embeddings to be true or false, found 1");
  no({{"hidden_size", 0}}, "config: width must be 1 or more, not 0");
  no({{"intermediate_size", 0}}, "intermediate_size is 0: it must be 1 or more");
  no({{"num_key_value_heads", 3}}, "config: n_heads 8 is not a multiple of n_kv_heads 3; every key and value head serves a "
     "whole group of queries");
  no({{"vocab_size", std::uint64_t{1} << 63}}, "config: vocab_size is 9223372036854775808; it must be below 2147483648");
  CHECK_THROWS_WITH_AS(config_from_hugging_face("[1]", "c"), "c: expected a JSON object with the model's settings, found array", FileError);
  CHECK_THROWS_WITH_AS(config_from_hugging_face("{", "c"), "c: expected a JSON object with the model's settings, found text that "
                       "is not JSON", FileError);
}

TEST_CASE("the tokens that end a text are one or several, as generation_config.json names them, or else config.json") {
  const TemporaryFolder folder;
  folder.write("config.json", R"({"eos_token_id": 2})");
  CHECK(read_hugging_face_ends(folder.path(), 8) == std::vector<int>{2});
  const auto generation = [&](const std::string& text) {
    folder.write("generation_config.json", text);
    return read_hugging_face_ends(folder.path(), 8);
  };
  CHECK(generation("{}").empty());
  CHECK(generation(R"({"eos_token_id": null})").empty());
  CHECK(generation(R"({"eos_token_id": [7, 3, 5]})") == std::vector<int>{7, 3, 5});
  const std::string path = (folder / "generation_config.json").string();
  CHECK_THROWS_WITH_AS(generation(R"({"eos_token_id": [7, 8]})"), (path + ": eos_token_id is [7,8]: the model has 8 tokens").c_str(),
                       FileError);
  for (const char* wrong : {"-1", "1.5", "\"2\"", "[2, [3]]", "{}", "true"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(generation(R"({"eos_token_id": )" + std::string(wrong) + "}"), FileError);
  }
}

TEST_CASE("a config comes back from Hugging Face's form as the same decoder") {
  std::vector<Config> configs;
  for (const Preset& preset : presets()) configs.push_back(preset.config);
  configs.push_back({.attention_bias = true, .tied_head = false});
  for (Config scaled : {Config{.context_length = 512}}) {
    for (const RopeScaling& scaling : {RopeScaling{.kind = RopeScalingKind::linear, .factor = 2},
                                       RopeScaling{.kind = RopeScalingKind::yarn, .factor = 2, .original_context = 128},
                                       RopeScaling{.kind = RopeScalingKind::llama3, .factor = 8, .original_context = 64, .beta_fast = 4},
                                       RopeScaling{.kind = RopeScalingKind::yarn, .factor = 4, .original_context = 128,
                                                   .beta_fast = 16, .beta_slow = 2, .attention_factor = 1.5}}) {
      scaled.rope_scaling = scaling;
      configs.push_back(scaled);
    }
  }
  for (Config config : configs) {
    const Config again = config_from_hugging_face(config_to_hugging_face(config, {}, FloatFormat::f32), "config.json");
    // What the layout has no word for: it resolves rules, pairs by halves, and is for running.
    config.head_dim = config.resolved_head_dim();
    config.hidden = config.resolved_hidden();
    config.rope_pairing = RopePairing::half;
    config.multiple_of = Config{}.multiple_of;
    std::string before, after;
    const auto list = [](std::string& text) {
      return [&text](const char* name, const auto& value) {
        if constexpr (std::is_enum_v<std::remove_cvref_t<decltype(value)>>)
          text += message("{} {}\n", name, word_of(value));
        else if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, std::string>)
          text += message("{} {}\n", name, value);
        else
          text += message("{} {}\n", name, value);
      };
    };
    Config::fields(config, list(before));
    Config::fields(again, list(after));
    CHECK(before == after);
  }
}

// Older versions of Hugging Face's library do not know original_max_position_embeddings and stretch the whole context.
TEST_CASE("YaRN is written so that every version of Hugging Face's library stretches the training's context") {
  Config config{.context_length = 512};
  config.rope_scaling = {.kind = RopeScalingKind::yarn, .factor = 4, .original_context = 128};
  const Json json = Json::parse(config_to_hugging_face(config, {}, FloatFormat::f32));
  CHECK(json["max_position_embeddings"] == 128);
  CHECK(json["rope_scaling"]["factor"] == 4);
  CHECK(!json["rope_scaling"].contains("original_max_position_embeddings"));
}

TEST_CASE("a decoder that no architecture of Hugging Face is, is not written as one") {
  CHECK_THROWS_WITH_AS(config_to_hugging_face({.attention_bias = true, .query_key_norm = true}, {}, FloatFormat::f32),
                       "hugging face: no architecture has both attention_bias and query_key_norm; the model cannot be written so",
                       ShapeError);
  Config config{.context_length = 64};
  config.rope_scaling = {.kind = RopeScalingKind::yarn, .factor = 4, .original_context = 64, .attention_factor = 1.5};
  CHECK_THROWS_AS(config_to_hugging_face(config, {}, FloatFormat::f32), ShapeError);
}
