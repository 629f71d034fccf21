#include "nn/safetensors.h"

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "autograd/error.h"
#include "autograd/gradcheck.h"
#include "tests/nn/temporary_folder.h"

using namespace gradus;
using namespace gradus::nn;
namespace fs = std::filesystem;

static std::string little_endian(std::uint64_t number) {
  return std::string(reinterpret_cast<const char*>(&number), sizeof number);
}

static std::string file_of(const std::string& header, const std::string& data = {}) {
  return little_endian(header.size()) + header + data;
}

static std::string zeros(std::size_t bytes) { return std::string(bytes, '\0'); }

static std::string contents(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// What the reader says about a file with these bytes, without its path; "" where it accepts them.
static std::string complaint(const std::string& bytes) {
  const TemporaryFolder folder;
  const fs::path path = folder.write("x", bytes);
  try {
    const SafetensorsFile file(path);
    return "";
  } catch (const FileError& error) {
    const std::string text = error.what();
    REQUIRE(text.starts_with(path.string() + ": "));
    return text.substr(path.string().size() + 2);
  }
}

TEST_CASE("safetensors: the format's own test files are accepted and refused as its authors do") {
  const fs::path folder = fs::path(GRADUS_SHARED_DIR) / "data/safetensors";
  if (!fs::exists(folder)) {
    MESSAGE("skipped: " << folder.string() << " is not there");
    return;
  }
  std::ifstream stream(folder / "vectors/manifest.json");
  for (const auto& vector : nlohmann::json::parse(stream)) {
    const std::string name = vector["file"];
    CAPTURE(name);
    if (vector["expect"] == "Ok")
      CHECK_NOTHROW(SafetensorsFile(folder / "vectors" / name));
    else
      CHECK_THROWS_AS(SafetensorsFile(folder / "vectors" / name), FileError);
  }
  for (const auto& sample : fs::directory_iterator(folder / "samples"))
    if (sample.path().extension() == ".safetensors") CHECK(SafetensorsFile(sample.path()).metadata().at("test") == "a");
}

TEST_CASE("safetensors: a header length that cannot be is refused before anything is allocated") {
  CHECK(complaint("") == "a safetensors file begins with 8 bytes that say its header's length; it has 0 bytes in all");
  CHECK(complaint(zeros(7)) ==
        "a safetensors file begins with 8 bytes that say its header's length; it has 7 bytes in all");
  for (std::uint64_t length : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    const std::string expected = "the first 8 bytes give a header of " + std::to_string(length) +
                                 " bytes, expected 2 to 100000000; is this a safetensors file?";
    CHECK(complaint(little_endian(length) + "{}") == expected);
  }
  CHECK(complaint(little_endian(3) + "{}") == "the header should have 3 bytes, only 2 follow; the file was cut off");
}

TEST_CASE("safetensors: offsets are two rising whole numbers inside the data") {
  const auto with_offsets = [](const std::string& offsets) {
    const std::string shape = R"({"w":{"dtype":"F32","shape":[4],"data_offsets":)";
    return complaint(file_of(shape + offsets + "}}", zeros(16)));
  };
  CHECK(with_offsets("[0,16]").empty());
  for (const char* outside : {"[0,1000000000000]", "[8,4]", "[17,17]"}) {
    const std::string text = outside;
    CHECK(with_offsets(outside) ==
          "tensor \"w\": data_offsets " + text + " must rise and end within the 16 bytes of data");
  }
  for (const char* wrong : {"[-16,0]", "[0]", "[0,8,16]", "[\"0\",\"16\"]", "[0.0,16.0]", "[0,1e1]", "[-0,16]", "null",
                            "{}", "[0,36893488147419103232]"}) {
    const std::string text = with_offsets(wrong);
    CHECK(text.starts_with("tensor \"w\": data_offsets must be two whole numbers of 0 or more, they are "));
  }
}

TEST_CASE("safetensors: a shape times its type is the bytes that the offsets hold") {
  const auto with_shape = [](const std::string& dtype, const std::string& shape, std::size_t bytes) {
    return complaint(file_of(R"({"w":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":[0,)" +
                                 std::to_string(bytes) + "]}}",
                             zeros(bytes)));
  };
  CHECK(with_shape("F32", "[2,3]", 24).empty());
  CHECK(with_shape("F32", "[]", 4).empty());
  CHECK(with_shape("F64", "[5,0]", 0).empty());
  CHECK(with_shape("F4", "[3,2]", 3).empty());
  CHECK(with_shape("F32", "[2,3]", 20) ==
        "tensor \"w\": shape [2,3] of F32 needs 24 bytes, data_offsets [0,20] hold 20");
  CHECK(with_shape("F32", "[4611686018427387905]", 4) ==
        "tensor \"w\": shape [4611686018427387905] of F32 has more bytes than can be counted");
  CHECK(with_shape("F32", "[4294967296,4294967296]", 0) ==
        "tensor \"w\": shape [4294967296,4294967296] of F32 has more bytes than can be counted");
  CHECK(with_shape("F4", "[3]", 2) == "tensor \"w\": shape [3] of F4 does not fill whole bytes");
  CHECK(with_shape("F31", "[1]", 4) == "tensor \"w\": the format has no dtype F31");
  CHECK(with_shape("F32", "[-1]", 4) == "tensor \"w\": shape [-1] must hold whole numbers of 0 or more");
  CHECK(with_shape("F32", "[1.0]", 4) == "tensor \"w\": shape [1.0] must hold whole numbers of 0 or more");
  CHECK(with_shape("F32", "1", 4) == "tensor \"w\": shape must be a list, it is 1");
}

TEST_CASE("safetensors: every byte of the data belongs to exactly one tensor") {
  const auto two = [](const std::string& first, const std::string& second, std::size_t bytes) {
    return complaint(file_of(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":)" + first +
                                 R"(},"b":{"dtype":"U8","shape":[4],"data_offsets":)" + second + "}}",
                             zeros(bytes)));
  };
  CHECK(two("[0,4]", "[4,8]", 8).empty());
  CHECK(two("[4,8]", "[0,4]", 8).empty());
  CHECK(two("[0,4]", "[2,6]", 6) ==
        "tensor \"b\": its bytes begin at 2, expected 4, the end of those before: there is an overlap");
  CHECK(two("[0,4]", "[0,4]", 4) ==
        "tensor \"b\": its bytes begin at 0, expected 4, the end of those before: there is an overlap");
  CHECK(two("[0,4]", "[5,9]", 9) ==
        "tensor \"b\": its bytes begin at 5, expected 4, the end of those before: there is a hole");
  CHECK(two("[1,5]", "[5,9]", 9) ==
        "tensor \"a\": its bytes begin at 1, expected 0, the end of those before: there is a hole");
  CHECK(two("[0,4]", "[4,8]", 10) == "the tensors end at byte 8 of the data, the file has 10: 2 belong to none");
}

// Two readers that keep the first and the last of two equal names see different weights in one file.
TEST_CASE("safetensors: a name used twice is refused, however it is spelled") {
  const std::string bytes = R"({"dtype":"U8","shape":[4],"data_offsets":[0,4]})";
  const std::string number = R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  const std::string data("\0\0\x80\x3f", 4);
  CHECK(complaint(file_of("{\"w\":" + bytes + ",\"w\":" + number + "}", data)) ==
        "the header has the name \"w\" twice");
  CHECK(complaint(file_of("{\"w\":" + bytes + ",\"\\u0077\":" + number + "}", data)) ==
        "the header has the name \"w\" twice");
  CHECK(complaint(file_of(R"({"w":{"dtype":"U8","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", data)) ==
        "the header has the name \"dtype\" twice");
  CHECK(complaint(file_of(R"({"__metadata__":{"a":"1","a":"2"}})")) == "the header has the name \"a\" twice");
}

TEST_CASE("safetensors: an entry has its three fields, and metadata only strings") {
  CHECK(complaint(file_of(R"({"w":{"dtype":"F32","shape":[0]}})")) == "tensor \"w\": its entry has no data_offsets");
  CHECK(complaint(file_of(R"({"w":{"dtype":"F32","shape":[0],"data_offsets":[0,0],"extra":1}})")) ==
        "tensor \"w\": its entry has 4 fields, expected only dtype, shape and data_offsets");
  CHECK(complaint(file_of(R"({"w":[]})")) == "tensor \"w\": its entry must be an object, it is array");
  CHECK(complaint(file_of(R"({"w":{"dtype":32,"shape":[0],"data_offsets":[0,0]}})")) ==
        "tensor \"w\": dtype must be a string, it is 32");
  CHECK(complaint(file_of(R"({"__metadata__":{"step":3}})")) ==
        "__metadata__: \"step\" must be a string, it is number");
  CHECK(complaint(file_of(R"({"__metadata__":null})")) == "__metadata__ must be an object, it is null");
}

TEST_CASE("safetensors: the header is JSON to the last byte, of no great depth") {
  CHECK(complaint(file_of("{}      ")).empty());
  CHECK(complaint(file_of("[]")) == "the header is not a JSON object");
  CHECK(complaint(file_of("\xef\xbb\xbf{}")) == "the header is not a JSON object");
  CHECK(complaint(file_of("    ")) == "the header is not a JSON object");
  CHECK(complaint(file_of(std::string("{}\0hidden", 9))) == "the header has a zero byte, which JSON forbids");
  CHECK(complaint(file_of("{} {}")).starts_with("the header is not JSON: "));
  CHECK(complaint(file_of("{\"\xff\":1}")).starts_with("the header is not JSON: "));
  std::string deep = "{\"a\":";
  deep += std::string(3'000'000, '[');
  CHECK(complaint(file_of(deep)) == "the header is nested deeper than the format allows");
}

TEST_CASE("safetensors: a path that is no readable file is an error with the path and the reason") {
  const TemporaryFolder folder;
  const std::string absent = (folder / "absent").string(), directory = folder.path().string();
  CHECK_THROWS_WITH_AS(SafetensorsFile{absent}, (absent + ": cannot read it: No such file or directory").c_str(),
                       FileError);
  CHECK_THROWS_WITH_AS(SafetensorsFile{directory}, (directory + ": cannot read it: Is a directory").c_str(), FileError);
}

TEST_CASE("safetensors: F32 and F64 become Real, I64 integers, and other types are refused by name") {
  const double doubles[] = {0.1, -2};
  const float floats[] = {1.5f, -0.25f, 3};
  const std::int64_t integers[] = {-1, std::int64_t{1} << 40};
  std::string data(reinterpret_cast<const char*>(doubles), sizeof doubles);
  data.append(reinterpret_cast<const char*>(integers), sizeof integers);
  data.append(reinterpret_cast<const char*>(floats), sizeof floats);
  data += "\x80\x3f";
  const TemporaryFolder folder;
  const std::string header = R"({"d":{"dtype":"F64","shape":[2,1],"data_offsets":[0,16]},)"
                             R"("i":{"dtype":"I64","shape":[2],"data_offsets":[16,32]},)"
                             R"("f":{"dtype":"F32","shape":[3],"data_offsets":[32,44]},)"
                             R"("b":{"dtype":"BF16","shape":[1,1,1,1,1,1],"data_offsets":[44,46]}})";
  const fs::path path = folder.write("x", file_of(header, data));
  const SafetensorsFile file(path);
  CHECK(file.names() == std::vector<std::string>{"b", "d", "f", "i"});
  CHECK(file.contains("d"));
  CHECK(!file.contains("e"));
  CHECK(file.dtype("b") == "BF16");
  CHECK(file.shape("d") == Shape{2, 1});
  CHECK(file.read("d").values()[0] == static_cast<Real>(0.1));
  CHECK(file.read("d").values()[1] == -2);
  CHECK(file.read("f").values()[1] == Real{-0.25});
  CHECK(file.read("f").values()[2] == 3);
  CHECK(file.integers("i") == std::vector<std::int64_t>{-1, std::int64_t{1} << 40});

  const auto refuses = [&](const std::string& what, const auto& action) {
    CHECK_THROWS_WITH_AS(action(), (path.string() + ": tensor " + what).c_str(), FileError);
  };
  Tensor wrong({3, 1});
  refuses("\"f\": expected shape (3, 1), found (3)", [&] { file.read_into("f", wrong); });
  refuses("\"i\": cannot read I64 as numbers of a tensor, only F32 and F64", [&] { file.read("i"); });
  refuses("\"f\": cannot read F32 as integers, only I64", [&] { file.integers("f"); });
  refuses("\"b\": it has 6 axes, at most 5 are supported", [&] { file.read("b"); });
  refuses("\"e\": there is none of this name among its 4", [&] { file.read("e"); });

  fs::resize_file(path, fs::file_size(path) - 8);
  refuses("\"f\": its bytes can no longer be read; was the file changed meanwhile?", [&] { file.read("f"); });
}

TEST_CASE("safetensors: what is written is read back, sorted, padded and with format = pt") {
  Rng rng(7);
  const std::vector<NamedTensor> tensors = {{"w", random_uniform({70, 90}, rng)},
                                            {"a \"quoted\" π", Tensor::scalar(0.5)},
                                            {"empty", Tensor({0, 3})}};
  const TemporaryFolder folder;
  const fs::path path = folder / "model.safetensors";
  write_safetensors(path, tensors, {{"step", "12"}});

  const SafetensorsFile file(path);
  CHECK(file.names() == std::vector<std::string>{"a \"quoted\" π", "empty", "w"});
  CHECK(file.metadata() == std::map<std::string, std::string>{{"format", "pt"}, {"step", "12"}});
  for (const auto& [name, tensor] : tensors) {
    CHECK(file.dtype(name) == "F32");
    const Tensor back = file.read(name);
    CHECK(back.shape() == tensor.shape());
    for (std::size_t i = 0; i < tensor.size(); ++i)
      REQUIRE(back.values()[i] == static_cast<Real>(static_cast<float>(tensor.values()[i])));
  }
  const std::string bytes = contents(path);
  std::uint64_t length = 0;
  std::copy_n(bytes.data(), 8, reinterpret_cast<char*>(&length));
  CHECK(length % 8 == 0);
  CHECK(bytes.size() == 8 + length + 4 * (70 * 90 + 1));

  const std::vector<NamedTensor> reversed(tensors.rbegin(), tensors.rend());
  write_safetensors(path, reversed, {{"step", "12"}});
  CHECK(contents(path) == bytes);
}

TEST_CASE("safetensors: names that could not be read back are not written") {
  const TemporaryFolder folder;
  const fs::path path = folder / "x";
  const auto refuses = [&](std::vector<NamedTensor> tensors, const std::string& what) {
    CHECK_THROWS_WITH_AS(write_safetensors(path, tensors), (path.string() + ": tensor " + what).c_str(), FileError);
  };
  const Tensor t = Tensor::scalar(1);
  refuses({{"w", t}, {"w", t}}, "\"w\": two tensors have this name");
  refuses({{"", t}}, "\"\": this name cannot be written; choose another");
  refuses({{"__metadata__", t}}, "\"__metadata__\": this name cannot be written; choose another");
  CHECK_THROWS_AS(write_safetensors(path, std::vector<NamedTensor>{{"\xff", t}}), FileError);
  CHECK(!fs::exists(path));
}

TEST_CASE("safetensors: a tensor behind byte 4,500,000,000 is read") {
  const TemporaryFolder folder;
  const std::string header = R"({"w":{"dtype":"F32","shape":[4],"data_offsets":[4500000000,4500000016]},)"
                             R"("x":{"dtype":"U8","shape":[4500000000],"data_offsets":[0,4500000000]}})";
  const fs::path path = folder.write("sparse", file_of(header));
  const std::uint64_t end = 8 + header.size() + 4'500'000'016;
  std::error_code error;
  fs::resize_file(path, end, error);
  if (error) {
    MESSAGE("skipped: no sparse file of this size here");
    return;
  }
  const float values[] = {1, 2, 3, 4};
  std::fstream stream(path, std::ios::binary | std::ios::in | std::ios::out);
  stream.seekp(static_cast<std::streamoff>(end - sizeof values));
  stream.write(reinterpret_cast<const char*>(values), sizeof values);
  stream.close();
  const Tensor w = SafetensorsFile(path).read("w");
  for (std::size_t i = 0; i < 4; ++i) CHECK(w.values()[i] == static_cast<Real>(values[i]));
}
