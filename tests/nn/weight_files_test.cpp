#include "nn/weight_files.h"

#include <doctest/doctest.h>

#include "autograd/error.h"
#include "tests/nn/temporary_folder.h"

using namespace gradus;
using namespace gradus::nn;

static const std::string index_name = "model.safetensors.index.json";

static void write_shards(const TemporaryFolder& folder) {
  const Tensor two = Tensor::full({2}, 2), three = Tensor::full({3}, 3), four = Tensor::full({4}, 4);
  write_safetensors(folder / "model-1.safetensors", std::vector<NamedTensor>{{"a", two}, {"c", three}});
  write_safetensors(folder / "model-2.safetensors", std::vector<NamedTensor>{{"b", four}});
}

static std::string refusal(const TemporaryFolder& folder, const std::string& weight_map) {
  folder.write(index_name, R"({"metadata": {"total_size": 36}, "weight_map": )" + weight_map + "}");
  try {
    const WeightFiles files(folder.path());
    return "";
  } catch (const FileError& error) {
    const std::string text = error.what(), path = (folder / index_name).string() + ": ";
    REQUIRE(text.starts_with(path));
    return text.substr(path.size());
  }
}

TEST_CASE("a model in several files is read as if it were in one") {
  const TemporaryFolder folder;
  write_shards(folder);
  CHECK(refusal(folder, R"({"a": "model-1.safetensors", "b": "model-2.safetensors", "c": "model-1.safetensors"})").empty());
  const WeightFiles files(folder.path());
  CHECK(files.names() == std::vector<std::string>{"a", "b", "c"});
  CHECK(files.shape("b") == Shape{4});
  const Tensor b = files.read("b"), c = files.read("c");
  CHECK(b.values()[3] == 4);
  CHECK(c.values()[2] == 3);
  CHECK_THROWS_WITH_AS(files.read("d"), ((folder / index_name).string() + ": tensor \"d\": there is none of this name among its 3").c_str(),
                       FileError);
}

TEST_CASE("an index and its files must agree about every tensor, and all differences are listed") {
  const TemporaryFolder folder;
  write_shards(folder);
  CHECK(refusal(folder, R"({"a": "model-2.safetensors", "b": "model-2.safetensors", "x": "model-1.safetensors"})") ==
        "does not fit its files:"
        "\n  a is in model-1.safetensors, the index says model-2.safetensors"
        "\n  c in model-1.safetensors is not in the index"
        "\n  x is missing in model-1.safetensors"
        "\n  a is missing in model-2.safetensors");
}

TEST_CASE("an index names plain files beside it and nothing else") {
  const TemporaryFolder folder;
  write_shards(folder);
  for (const char* name : {"", ".", "..", "../model-1.safetensors", "/etc/passwd", "sub/x", "sub\\\\x", "x\\u0000y"}) {
    const std::string quoted = "\"" + std::string(name) + "\"";
    CHECK(refusal(folder, "{\"a\": " + quoted + "}") ==
          "tensor \"a\": expected the plain name of a file beside the index, found " + quoted);
  }
  CHECK(refusal(folder, R"({"a": 1})") == "tensor \"a\": expected the name of a file, found number");
  CHECK(refusal(folder, "[]") == "expected a JSON object with a weight_map, an object with each tensor's file");
  folder.write(index_name, R"({"weight_map": {"a": "absent"}})");
  CHECK_THROWS_WITH_AS(WeightFiles{folder.path()}, ((folder / "absent").string() + ": cannot read it: No such file or directory").c_str(),
                       FileError);
}

TEST_CASE("more layers than a file can have are refused before they are listed") {
  const TemporaryFolder folder;
  write_safetensors(folder / "model.safetensors", std::vector<NamedTensor>{{"a", Tensor::full({2}, 2)}});
  const auto same = [](const std::string& name) { return name; };
  const WeightFiles files(folder.path());
  CHECK_THROWS_WITH_AS(expect_tensors(files, {{"layers.N.a", {2}, 2'000'000'000}}, "config.json", same),
                       ((folder / "model.safetensors").string() + ": has 1 tensors, and config.json asks for 2000000000 "
                        "layers; they do not belong together").c_str(), FileError);
  CHECK_THROWS_WITH_AS(expect_tensors(files, {{"layers.N.b", {2}, 300}}, "config.json", same), doctest::Contains(
                       "\n  layers.199.b (2) is missing\n  … and 101 more"), FileError);
}
