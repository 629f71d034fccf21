// config.json of a Hugging Face folder, of either kind: what is accepted is written and read as the same, where it can
// be written.
#include "nn/hugging_face_config.h"
#include "nn/hugging_face_gpt2.h"
#include "tests/fuzz/target.h"

using namespace gradus;

static std::string written(const nn::Config& config) {
  try {
    return nn::config_to_hugging_face(config, {}, nn::FloatFormat::f32);
  } catch (const ShapeError&) {
    return "";
  }
}

FUZZ(bytes) {
  fuzz::expect_no_surprise([&] {
    const nn::Config config = nn::config_from_hugging_face(bytes, "config.json");
    config.parameter_count();
    const std::string json = written(config);
    if (!json.empty()) fuzz::require(written(nn::config_from_hugging_face(json, "config.json")) == json);
  });
  fuzz::expect_no_surprise([&] { nn::ends_from_hugging_face(bytes, "generation_config.json", 512); });
  fuzz::expect_no_surprise([&] { nn::gpt2_config_from_hugging_face(bytes, "config.json").parameter_count(); });
}
