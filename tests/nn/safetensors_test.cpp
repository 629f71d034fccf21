#include "nn/safetensors.h"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "autograd/error.h"
#include "autograd/gradcheck.h"
#include "tests/nn/locked_file.h"
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

// Their names of reasons, and what stands in ours.
static const std::map<std::string, const char*> reasons = {
    {"Ok", "^$"},
    {"HeaderTooSmall", "begins with 8 bytes"},
    {"HeaderTooLarge", "give a header of"},
    {"InvalidHeaderLength", "only [0-9]+ follow"},
    {"InvalidHeader", "header of 1 bytes|not JSON|not a JSON object"},
    {"InvalidHeaderDeserialization", "header of 1 bytes|not JSON|not a JSON object"},
    {"MetadataIncompleteBuffer", "belong to none|end within"},
    {"TensorInvalidInfo", "needs [0-9]+ bytes|end within"},  // the file has both faults
    {"ValidationOverflow", "more bytes than can be counted"},
    {"InvalidOffset", "there is an overlap"},
};

TEST_CASE("safetensors: the format's own test files are accepted and refused as its authors do, for their reasons") {
  const fs::path folder = fs::path(GRADUS_SHARED_DIR) / "data/safetensors";
  if (!fs::exists(folder)) {
    MESSAGE("skipped: " << folder.string() << " is not there");
    return;
  }
  std::ifstream stream(folder / "vectors/manifest.json");
  for (const auto& vector : nlohmann::json::parse(stream)) {
    const std::string name = vector["file"];
    CAPTURE(name);
    const std::string found = complaint(contents(folder / "vectors" / name));
    CHECK_MESSAGE(std::regex_search(found, std::regex(reasons.at(vector["expect"]))), found);
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
  const std::string locked = folder.write("locked", file_of("{}")).string();
  const LockedFile lock(locked);
  CHECK_THROWS_WITH_AS(SafetensorsFile{locked}, (locked + ": cannot read it; is it yours to read?").c_str(), FileError);
}

TEST_CASE("safetensors: floats become Real, I64 whole numbers, and each is refused as the other") {
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
  refuses("\"i\": cannot read I64 as numbers of a tensor, only F64, F32, F16 and BF16", [&] { file.read("i"); });
  refuses("\"f\": cannot read F32 as whole numbers, only I8 to I64 and U8 to U64", [&] { file.integers("f"); });
  refuses("\"b\": it has 6 axes, at most 5 are supported", [&] { file.read("b"); });
  refuses("\"e\": there is none of this name among its 4", [&] { file.read("e"); });

  fs::resize_file(path, fs::file_size(path) - 8);
  refuses("\"f\": its bytes can no longer be read; was the file changed meanwhile?", [&] { file.read("f"); });
}

static fs::path one_tensor(const TemporaryFolder& folder, const std::string& dtype, std::size_t count, const std::string& data) {
  return folder.write("x", file_of(R"({"w":{"dtype":")" + dtype + R"(","shape":[)" + std::to_string(count) +
                                       R"(],"data_offsets":[0,)" + std::to_string(data.size()) + "]}}", data));
}

TEST_CASE("safetensors: the 16-bit formats are read as the numbers they stand for") {
  const TemporaryFolder folder;
  CHECK(SafetensorsFile(one_tensor(folder, "BF16", 2, "\x80\x3f\x49\xc0")).numbers("w") == std::vector<double>{1, -3.140625});
  const fs::path path = one_tensor(folder, "F16", 4, std::string("\x00\x3c\x01\x00\xff\x7b\x00\x80", 8));
  CHECK(SafetensorsFile(path).numbers("w") == std::vector<double>{1, 0x1p-24, 65504, 0});
  const Tensor w = SafetensorsFile(path).read("w");
  CHECK(w.values()[1] == Real{0x1p-24});
  CHECK(std::signbit(w.values()[3]));
}

TEST_CASE("safetensors: whole numbers of every type keep their sign and size, and one too large is refused") {
  const TemporaryFolder folder;
  const auto read = [&](const std::string& dtype, std::size_t bytes) {
    return SafetensorsFile(one_tensor(folder, dtype, 1, std::string(bytes, '\xfe'))).integers("w")[0];
  };
  CHECK(read("I8", 1) == -2);
  CHECK(read("U8", 1) == 0xFE);
  CHECK(read("I16", 2) == -258);
  CHECK(read("U16", 2) == 0xFEFE);
  CHECK(read("I32", 4) == -16843010);
  CHECK(read("U32", 4) == 0xFEFEFEFE);
  CHECK(read("I64", 8) == -72340172838076674);
  CHECK_THROWS_WITH_AS(read("U64", 8), doctest::Contains("tensor \"w\": 18374403900871474942 is above "
                       "9223372036854775807, the largest whole number that can be read"), FileError);
  CHECK(SafetensorsFile(one_tensor(folder, "U64", 1, zeros(7) + "\x7f")).integers("w")[0] == std::int64_t{0x7F} << 56);
}

TEST_CASE("safetensors: numbers that begin at an odd byte are read, past the end of the buffer too") {
  const TemporaryFolder folder;
  std::string data = "x";
  constexpr std::size_t count = 600'000;  // 1.2 MB in 16 bits
  for (std::size_t i = 0; i < count; ++i) data += std::string("\x80") + (i % 2 == 0 ? "\x3f" : "\xbf");
  const std::string header = R"({"odd":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                             R"("w":{"dtype":"BF16","shape":[600000],"data_offsets":[1,1200001]}})";
  const Tensor w = SafetensorsFile(folder.write("y", file_of(header, data))).read("w");
  for (std::size_t i = 0; i < count; ++i) REQUIRE(w.values()[i] == (i % 2 == 0 ? 1 : -1));
}

TEST_CASE("safetensors: the double flavour's numbers come back bit for bit from F64, the float flavour's from F32") {
  Rng rng(5);
  const std::vector<NamedTensor> tensors = {{"w", random_uniform({33, 7}, rng)}};
  const TemporaryFolder folder;
  write_safetensors(folder / "x", tensors, {}, exact_format);
  const SafetensorsFile file(folder / "x");
  CHECK(file.dtype("w") == (sizeof(Real) == 8 ? "F64" : "F32"));
  const Tensor back = file.read("w");
  for (std::size_t i = 0; i < back.size(); ++i) REQUIRE(back.values()[i] == tensors[0].tensor.values()[i]);
}

TEST_CASE("safetensors: the 16-bit formats are written as the nearest number, and refuse what they cannot hold") {
  const TemporaryFolder folder;
  const std::vector<NamedTensor> tensors = {{"w", Tensor({4}, {1, Real(-0.1), 65504, Real(1e-9)})}};
  write_safetensors(folder / "h", tensors, {}, FloatFormat::f16);
  CHECK(SafetensorsFile(folder / "h").dtype("w") == "F16");
  CHECK(SafetensorsFile(folder / "h").numbers("w") == std::vector<double>{1, -0.0999755859375, 65504, 0});
  write_safetensors(folder / "b", tensors, {}, FloatFormat::bf16);
  CHECK(SafetensorsFile(folder / "b").numbers("w") == std::vector<double>{1, -0.10009765625, 65536, 0x1.12p-30});
  const std::vector<NamedTensor> large = {{"w", Tensor({1}, {70000})}};
  CHECK_THROWS_WITH_AS(write_safetensors(folder / "h", large, {}, FloatFormat::f16),
                       ((folder / "h").string() + ": tensor \"w\": 70000 is too large for f16, whose numbers end at 65504; "
                        "write f32").c_str(), FileError);
  CHECK(SafetensorsFile(folder / "h").size() == 1);
  FloatFormat format{};
  from_word("bf16", format);
  CHECK(format == FloatFormat::bf16);
  CHECK_THROWS_WITH_AS(from_word("int8", format), "format of numbers is f32, f64, f16 or bf16, not int8", ShapeError);
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
