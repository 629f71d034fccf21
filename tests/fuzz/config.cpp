// config.json of a folder of ours: what is accepted is written and read as the same.
#include "nn/config_file.h"

#include "tests/fuzz/target.h"

using namespace gradus;

FUZZ(bytes) {
  fuzz::expect_no_surprise([&] {
    const nn::Config config = nn::config_from_json(bytes, "config.json");
    config.parameter_count();
    const std::string json = nn::config_to_json(config);
    fuzz::require(nn::config_to_json(nn::config_from_json(json, "config.json")) == json);
  });
}
