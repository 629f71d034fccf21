#include "nn/json_text.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "autograd/error.h"
#include "nn/config_file.h"
#include "nn/hugging_face_config.h"
#include "nn/text/tokenizer.h"
#include "nn/weight_files.h"
#include "tests/nn/temporary_folder.h"

using namespace gradus;
using namespace gradus::nn;

static std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST_CASE("JSON is taken up to 32 levels, and what is deeper or no JSON is discarded") {
  CHECK(parse_json(nested(32)).is_array());
  CHECK(parse_json(nested(34)).is_discarded());
  CHECK(parse_json("{\"a\": 1e999}").is_discarded());
  CHECK(parse_json("{} {}").is_discarded());
  CHECK(parse_json("\"\xff\"").is_discarded());
}

// A config.json of 4 MB, a text of a million levels, overflowed the stack when its value was shown in the message that
// refused it.
TEST_CASE("a file that nests two million levels deep is refused by every reader of a model") {
  const std::string deep = nested(2'000'000);
  const TemporaryFolder folder;
  const auto refused = [](const auto& read) { CHECK_THROWS_AS(read(), FileError); };
  refused([&] { config_from_hugging_face("{\"architectures\": " + deep + "}", "config.json"); });
  refused([&] { read_config(folder.write("config.json", "{\"format\": \"gradus\", \"width\": " + deep + "}")); });
  refused([&] { tokenizer_from_json("{\"model\": " + deep + "}", "tokenizer.json"); });
  folder.write("model.safetensors.index.json", "{\"weight_map\": {\"a\": " + deep + "}}");
  refused([&] { WeightFiles{folder.path()}; });
}
