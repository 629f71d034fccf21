// llama2.c's files against what llama2.c itself computes from them.
#include "nn/llama2c.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "autograd/error.h"
#include "autograd/graph.h"
#include "nn/hugging_face.h"
#include "nn/text/generate.h"
#include "nn/text/llama2c_tokenizer.h"
#include "tests/nn/locked_file.h"
#include "tests/nn/temporary_folder.h"
#include "tests/shared_data.h"

using namespace gradus;
using namespace gradus::nn;
namespace fs = std::filesystem;
using Json = nlohmann::json;

static const fs::path stories = data / "stories260K";

static void put(std::string& bytes, const auto& number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

// dim, hidden_dim, n_layers, n_heads, n_kv_heads, vocab_size, seq_len
using Header = std::vector<std::int32_t>;

static std::string header_bytes(const Header& header) {
  std::string bytes;
  for (const std::int32_t field : header) put(bytes, field);
  return bytes;
}

// A whole checkpoint whose numbers are 0, 1, 2, …
static std::string counting_checkpoint(const Header& header, std::size_t floats) {
  std::string bytes = header_bytes(header);
  for (std::size_t i = 0; i < floats; ++i) put(bytes, static_cast<float>(i));
  return bytes;
}

static std::string refusal(const fs::path& path) {
  try {
    read_llama2c(path);
  } catch (const FileError& error) {
    const std::string text = error.what();
    REQUIRE(text.starts_with(path.string() + ": "));
    return text.substr(path.string().size() + 2);
  }
  return "none";
}

static std::string tokenizer_refusal(const fs::path& path, std::size_t vocab_size) {
  try {
    Llama2cTokenizer(path, vocab_size);
  } catch (const FileError& error) {
    const std::string text = error.what();
    REQUIRE(text.starts_with(path.string() + ": "));
    return text.substr(path.string().size() + 2);
  }
  return "none";
}

struct Piece {
  std::string text;
  float score;
};

static std::string tokenizer_bytes(const std::vector<Piece>& pieces) {
  std::uint32_t longest = 0;
  for (const Piece& piece : pieces) longest = std::max(longest, static_cast<std::uint32_t>(piece.text.size()));
  std::string bytes;
  put(bytes, longest);
  for (const Piece& piece : pieces) {
    put(bytes, piece.score);
    put(bytes, static_cast<std::uint32_t>(piece.text.size()));
    bytes += piece.text;
  }
  return bytes;
}

TEST_CASE("the model of 260 thousand parameters has 260,032") {
  if (absent()) return;
  const Decoder decoder = read_llama2c(stories / "stories260K.bin");
  CHECK(count_parameters(decoder) == 260032);
  CHECK(decoder.config.context_length == 512);
  CHECK(decoder.config.tied_head);
}

TEST_CASE("the most likely text is llama2.c's, token for token") {
  if (absent()) return;
  const Decoder decoder = read_llama2c(stories / "stories260K.bin");
  for (const char* name : {"greedy-empty", "greedy-lily-and-tom", "greedy-once-upon-a-time"}) {
    CAPTURE(name);
    const Json golden = Json::parse(bytes_of(stories / "golden" / (std::string(name) + ".json")));
    const auto prompt = golden["prompt_ids"].get<std::vector<int>>();
    auto expected = golden["input_ids"].get<std::vector<int>>();
    expected.push_back(golden["last_sampled_id"].get<int>());
    expected.erase(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(prompt.size()));
    Rng rng(1);
    const GenerateOptions options{.tokens = expected.size(), .sampler = {.temperature = 0}, .end_token = 1};
    CHECK(generate(decoder, prompt, options, rng) == expected);
  }
}

TEST_CASE("the logits are llama2.c's to its own rounding") {
  if (absent()) return;
  const NoGrad guard;
  const fs::path golden = stories / "golden/logits-once-upon-a-time-16x512";
  const auto ids = Json::parse(bytes_of(golden.string() + ".json"))["input_ids"].get<std::vector<int>>();
  const std::string bytes = bytes_of(golden.string() + ".f32");
  std::vector<float> expected(bytes.size() / sizeof(float));
  std::memcpy(expected.data(), bytes.data(), bytes.size());

  const Decoder decoder = read_llama2c(stories / "stories260K.bin");
  const Tensor logits = decoder.logits(decoder.hidden(ids, 1));
  REQUIRE(logits.size() == expected.size());
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(logits.values()[i]) - static_cast<double>(expected[i])));
  CHECK(worst < (sizeof(Real) == 8 ? 2e-5 : 1e-4));
}

TEST_CASE("every number of a checkpoint goes where the format has it") {
  const TemporaryFolder folder;
  // Floats: embedding 12, norms 4, queries 16, keys 8, values 8, outputs 16, norms 4, gate, down and up 12 each,
  // norm 4, angles 2 · 5; then the head.
  const Header sizes = {4, 3, 1, 2, 1, -3, 5};
  const Decoder untied = read_llama2c(folder.write("untied.bin", counting_checkpoint(sizes, 130)));
  const Block& layer = untied.layers[0];
  CHECK(untied.embedding.weight.values()[0] == 0);
  CHECK(layer.attention_norm.gain.values()[0] == 12);
  CHECK(layer.attention.query.weight.values()[0] == 16);
  CHECK(layer.attention.key.weight.values()[0] == 32);
  CHECK(layer.attention.value.weight.values()[0] == 40);
  CHECK(layer.attention.output.weight.values()[0] == 48);
  CHECK(layer.feed_forward_norm.gain.values()[0] == 64);
  CHECK(layer.feed_forward.gate.weight.values()[0] == 68);
  CHECK(layer.feed_forward.down.weight.values()[0] == 80);
  CHECK(layer.feed_forward.up.weight.values()[0] == 92);
  CHECK(untied.norm.gain.values()[0] == 104);
  CHECK_FALSE(untied.config.tied_head);
  CHECK(untied.head.weight.values()[0] == 118);
  CHECK(untied.head.weight.values()[11] == 129);

  const Decoder tied = read_llama2c(folder.write("tied.bin", counting_checkpoint({4, 3, 1, 2, 1, 3, 5}, 118)));
  CHECK(tied.config.tied_head);
  CHECK(tied.head.weight.values().data() == tied.embedding.weight.values().data());
}

TEST_CASE("a checkpoint is written as it was read, byte for byte, tied or not") {
  const TemporaryFolder folder;
  for (const auto& [vocabulary, floats] : {std::pair{3, 118}, {-3, 130}}) {
    const fs::path path = folder.write("x.bin", counting_checkpoint({4, 3, 1, 2, 1, vocabulary, 5}, floats));
    Llama2cTables tables;
    const Decoder decoder = read_llama2c(path, &tables);
    CHECK(tables.cosine == std::vector<float>{108, 109, 110, 111, 112});
    CHECK(tables.sine == std::vector<float>{113, 114, 115, 116, 117});
    write_llama2c(folder / "y.bin", decoder, tables);
    CHECK(bytes_of(folder / "y.bin") == bytes_of(path));
  }
  if (absent()) return;
  Llama2cTables tables;
  write_llama2c(folder / "y.bin", read_llama2c(stories / "stories260K.bin", &tables), tables);
  CHECK(bytes_of(folder / "y.bin") == bytes_of(stories / "stories260K.bin"));
  Llama2cTokenizer(stories / "tok512.bin", 512).write(folder / "t.bin");
  CHECK(bytes_of(folder / "t.bin") == bytes_of(stories / "tok512.bin"));
}

TEST_CASE("the Hugging Face copy becomes llama2.c's file again, but for the rounding of its angles") {
  if (absent()) return;
  const TemporaryFolder folder;
  write_llama2c(folder / "y.bin", read_hugging_face(stories / "hf"));
  const std::string before = bytes_of(stories / "stories260K.bin"), after = bytes_of(folder / "y.bin");
  REQUIRE(before.size() == after.size());
  constexpr std::size_t tables = 1040156;
  CHECK(before.substr(0, tables) == after.substr(0, tables));
  std::vector<float> angles((before.size() - tables) / sizeof(float)), computed(angles.size());
  std::memcpy(angles.data(), before.data() + tables, before.size() - tables);
  std::memcpy(computed.data(), after.data() + tables, before.size() - tables);
  for (std::size_t i = 0; i < angles.size(); ++i) REQUIRE(std::abs(angles[i] - computed[i]) < 3e-6f);
}

TEST_CASE("a model that llama2.c would compute otherwise is not written for it") {
  const TemporaryFolder folder;
  const auto refuses = [&](const Config& config, const std::string& what) {
    CHECK_THROWS_WITH_AS(write_llama2c(folder / "x.bin", Decoder(config)),
                         ("llama2.c: " + what + "; write it as a Hugging Face folder").c_str(), ShapeError);
  };
  const Config good{.vocab_size = 5, .width = 8, .n_layers = 1, .n_heads = 2, .n_kv_heads = 1, .hidden = 3};
  CHECK_NOTHROW(write_llama2c(folder / "x.bin", Decoder(good)));
  const auto with = [&](const auto& change) {
    Config config = good;
    change(config);
    return config;
  };
  refuses(with([](Config& c) { c.rope_theta = 500; }), "rope_theta is 500, and every model of this format has 10000");
  refuses(with([](Config& c) { c.norm_epsilon = 1e-6; }), "norm_epsilon is 1e-06, and every model of this format has 1e-05");
  refuses(with([](Config& c) { c.attention_bias = true; }), "attention_bias is true, and every model of this format has none");
  refuses(with([](Config& c) { c.query_key_norm = true; }), "query_key_norm is true, and every model of this format has none");
  refuses(with([](Config& c) { c.head_dim = 6; }), "head_dim is 6, and every model of this format has width / n_heads");
  refuses(with([](Config& c) { c.rope_scaling = {.kind = RopeScalingKind::linear, .factor = 2}; }),
          "rope_scaling is linear, and every model of this format has none");
  CHECK_THROWS_WITH_AS(write_llama2c(folder / "x.bin", Decoder(good), {{1}, {2}}), "llama2.c: the tables have 1 and 1 numbers, "
                       "the model needs 128; they are another model's", ShapeError);
}

TEST_CASE("a checkpoint of any other length is refused, with both lengths") {
  const TemporaryFolder folder;
  const std::string whole = counting_checkpoint({4, 3, 1, 2, 1, 3, 5}, 118);
  const auto cut = [&](std::size_t length) { return refusal(folder.write("cut.bin", whole.substr(0, length))); };
  for (const std::size_t length : {0, 7, 27})
    CHECK(cut(length) == "expected a llama2.c checkpoint, which begins with a header of 28 bytes, found " +
                             std::to_string(length) + " bytes in all");
  for (const std::size_t length : {std::size_t{28}, whole.size() / 2, whole.size() - 1})
    CHECK(cut(length) == "expected 500 bytes, found " + std::to_string(length) + "; was the file cut off?");
  CHECK(refusal(folder.write("long.bin", whole + '\0')) ==
        "expected 500 bytes, found 501; is this a llama2.c checkpoint?");
  CHECK(cut(whole.size()) == "none");
}

TEST_CASE("a header that no model can have is refused before anything is allocated") {
  const TemporaryFolder folder;
  const auto with = [&](const Header& header) { return refusal(folder.write("bad.bin", header_bytes(header))); };
  const Header good = {4, 3, 1, 2, 1, 3, 5};
  const char* names[] = {"dim", "hidden_dim", "n_layers", "n_heads", "n_kv_heads", "vocab_size", "seq_len"};
  constexpr std::int32_t largest = 2147483647, smallest = -largest - 1;
  for (std::size_t i = 0; i < good.size(); ++i) {
    CAPTURE(names[i]);
    const std::string rule = std::string("expected ") + names[i];
    for (const std::int32_t value : {0, -1, smallest, largest}) {
      CAPTURE(value);
      Header bad = good;
      bad[i] = value;
      const std::string text = with(bad);
      CHECK(text != "none");
      if (value == 0 || (value < 0 && i != 5))
        CHECK(text == rule + " to be " + (i == 5 ? "other than 0" : "above 0") + ", found " + std::to_string(value) +
                          "; is this a llama2.c checkpoint?");
    }
  }
  CHECK(with({4, 3, 1, 3, 1, 3, 5}) == "expected n_heads to divide dim, found 3 and 4");
  CHECK(with({12, 3, 1, 3, 2, 3, 5}) == "expected n_kv_heads to divide n_heads, found 2 and 3");
  CHECK(with({6, 3, 1, 2, 1, 3, 5}) == "expected heads of even size, found dim / n_heads = 6 / 2 = 3");
  CHECK(with({4, 3, 1, 2, 1, smallest, 5}) == "expected vocab_size to have an opposite, found -2147483648");
  CHECK(with({largest - 1, largest, largest, 1, 1, -largest, largest}) ==
        "expected the sizes of a model, found a header whose matrices have more numbers than can be counted; is this a "
        "llama2.c checkpoint?");
  CHECK(with({0x616b3432, 2, 64, 172, 5, 8, 4}) ==
        "expected a llama2.c checkpoint of version 0, found one of version 2 (\"ak42\"); export it again with "
        "--version 0");
}

TEST_CASE("what is no file is refused as such") {
  const TemporaryFolder folder;
  CHECK(refusal(folder.path()) == "expected a llama2.c checkpoint, found: Is a directory");
  CHECK(refusal(folder / "none.bin") == "expected a llama2.c checkpoint, found: No such file or directory");
  CHECK(tokenizer_refusal(folder.path(), 512) == "expected a llama2.c tokenizer, found: Is a directory");
  CHECK(tokenizer_refusal(folder / "none.bin", 512) ==
        "expected a llama2.c tokenizer, found: No such file or directory");
  const fs::path locked = folder.write("locked.bin", header_bytes({4, 3, 1, 2, 1, 3, 5}));
  const LockedFile lock(locked);
  CHECK(refusal(locked) ==
        "expected a llama2.c checkpoint, found a file that cannot be opened; is it yours to read?");
  CHECK(tokenizer_refusal(locked, 3) ==
        "expected a llama2.c tokenizer, found a file that cannot be opened; is it yours to read?");
}

TEST_CASE("a text becomes the ids that llama2.c gives it, and comes back whole") {
  if (absent()) return;
  const Llama2cTokenizer tokenizer(stories / "tok512.bin", 512);
  for (const Json& row : Json::parse(bytes_of(data / "golden-tokenizers/tok512-encode.json"))) {
    const auto text = row["text"].get<std::string>();
    CAPTURE(text);
    const std::vector<int> ids = tokenizer.encode(text);
    CHECK(ids == row["ids"].get<std::vector<int>>());
    CHECK(tokenizer.decode(ids) == text);
  }
  for (const std::string text : {"  hello", "\xE6\xAD", "a\x80z", "\xFF\xFE", "<0x41>", "\n<s>\n"}) {
    CAPTURE(text);
    CHECK(tokenizer.decode(tokenizer.encode(text)) == text);
  }
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text(1, static_cast<char>(byte));
    CHECK(tokenizer.decode(tokenizer.encode(text)) == text);
  }
}

TEST_CASE("a prompt has one begin token, in front, also if it spells one") {
  if (absent()) return;
  const Llama2cTokenizer tokenizer(stories / "tok512.bin", 512);
  for (const char* text : {"", "Once", "<s>", "\n<s>\n", "<s> Once </s>"}) {
    CAPTURE(text);
    const std::vector<int> ids = tokenizer.encode(text);
    CHECK(ids.front() == Llama2cTokenizer::begin);
    CHECK(std::ranges::count(ids, Llama2cTokenizer::begin) == 1);
  }
}

// Places 0 … are <unk>, begin, end, the characters, and the pieces that merging makes of them.
static const std::vector<Piece> small_pieces = {{"<unk>", 0}, {"\n<s>\n", 0}, {"\n</s>\n", 0}, {"a", 0}, {"b", 0},
                                                {" ", 0}, {"aa", -2}, {"ab", -1}, {"ba", -2}, {"aab", -3}, {" a", -3},
                                                {"aaaa", -2}, {"abab", -1}};

// The rule as it is said: look at all pairs, merge the best, begin again.
static std::vector<int> merge_slowly(const std::string& text) {
  std::vector<std::string> parts = {" "};
  for (const char c : text) parts.emplace_back(1, c);
  const auto find = [](const std::string& spelling) {
    return std::ranges::find(small_pieces, spelling, &Piece::text) - small_pieces.begin();
  };
  for (;;) {
    std::size_t best = parts.size();
    float best_score = -1e10f;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const std::size_t id = static_cast<std::size_t>(find(parts[i] + parts[i + 1]));
      if (id == small_pieces.size() || small_pieces[id].score <= best_score) continue;
      best = i;
      best_score = small_pieces[id].score;
    }
    if (best == parts.size()) break;
    parts[best] += parts[best + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
  std::vector<int> ids = {1};
  for (const std::string& part : parts) ids.push_back(static_cast<int>(find(part)));
  return ids;
}

TEST_CASE("merging through a queue finds what looking at all pairs finds") {
  const TemporaryFolder folder;
  const Llama2cTokenizer tokenizer(folder.write("small.bin", tokenizer_bytes(small_pieces)), small_pieces.size());
  Rng rng(7);
  for (int trial = 0; trial < 500; ++trial) {
    std::string text;
    for (int i = 0; i <= trial % 40; ++i) text += rng.uniform() < 0.6 ? 'a' : rng.uniform() < 0.7 ? 'b' : ' ';
    CAPTURE(text);
    const std::vector<int> ids = tokenizer.encode(text);
    CHECK(ids == merge_slowly(text));
    CHECK(tokenizer.decode(ids) == text);
  }
  CHECK_THROWS_WITH_AS(tokenizer.encode("ax"), "llama2c: byte 0x78 of the character at offset 1 is not in the "
                       "vocabulary, nor is the character", ShapeError);
  const std::vector<int> foreign = {1, 13};
  CHECK_THROWS_WITH_AS(tokenizer.decode(foreign), "llama2c: id 13 at position 1 must be below the vocabulary's 13 "
                       "pieces", ShapeError);
}

// The best-known vocabularies have no pieces that merging could take that far; others may.
TEST_CASE("a text that spells a special token or the piece of a byte stays text, even where merging leads there") {
  const std::vector<std::string> spellings = {"<unk>", "\n<s>\n", "\n</s>\n", "<0x41>"};
  std::vector<Piece> pieces;
  for (const std::string& spelling : spellings) pieces.push_back({spelling, 100});
  pieces.push_back({" ", 0});
  for (const std::string& spelling : spellings)
    for (std::size_t length = 1; length <= spelling.size(); ++length) {
      pieces.push_back({spelling.substr(length - 1, 1), 0});
      if (length < spelling.size()) pieces.push_back({spelling.substr(0, length), static_cast<float>(length)});
    }
  const TemporaryFolder folder;
  const Llama2cTokenizer tokenizer(folder.write("spelling.bin", tokenizer_bytes(pieces)), pieces.size());
  for (const std::string& spelling : spellings) {
    CAPTURE(spelling);
    const std::vector<int> ids = tokenizer.encode(spelling);
    CHECK(ids.size() == 4);  // the begin token, a space, all but the last character, the last
    CHECK(*std::min_element(ids.begin() + 1, ids.end()) >= 4);
    CHECK(tokenizer.decode(ids) == spelling);
  }
}

// Where the best pair is looked for again after each merge, this takes hours.
TEST_CASE("a long text without a break is no harder than any other") {
  if (absent()) return;
  const Llama2cTokenizer tokenizer(stories / "tok512.bin", 512);
  const std::string text(2'000'000, 'a');
  CHECK(tokenizer.decode(tokenizer.encode(text)) == text);
}

TEST_CASE("a tokenizer that is not the model's is refused") {
  const TemporaryFolder folder;
  const std::vector<Piece> pieces = {{"<unk>", 0}, {"<s>", 0}, {"</s>", 0}, {"ab", -1}};
  const std::string whole = tokenizer_bytes(pieces);  // 4 bytes, then pieces of 13, 11, 12 and 10
  const auto with = [&](const std::string& bytes, std::size_t vocab_size) {
    return tokenizer_refusal(folder.write("tokenizer.bin", bytes), vocab_size);
  };
  CHECK(with(whole, 4) == "none");
  CHECK(with(whole, 3) == "expected the end after 3 pieces, found 10 more bytes; does the tokenizer belong to this "
                          "model?");
  CHECK(with(whole, 5) == "expected 5 pieces, found the end at piece 4; does the tokenizer belong to this model?");
  CHECK(with(whole, 512) == "expected 512 pieces, for which 4100 bytes are the least, found 50; does the tokenizer "
                            "belong to this model?");
  CHECK(with(whole, 2) == "expected a vocabulary of 3 to 2147483647 pieces, found a model with 2");
  CHECK(with(whole.substr(0, whole.size() - 1), 4) ==
        "piece 3: expected at most 5 bytes, found a length of 2 with 1 bytes left; was the file cut off?");
  CHECK(with(whole + '\0', 4) == "expected the end after 4 pieces, found 1 more bytes; does the tokenizer belong to "
                                 "this model?");
  std::string bad = whole;
  bad[8] = 6;
  CHECK(with(bad, 4) ==
        "piece 0: expected at most 5 bytes, found a length of 6 with 38 bytes left; was the file cut off?");
  bad = whole;
  bad.replace(4, 4, "\x00\x00\xC0\x7F", 4);
  CHECK(with(bad, 4) == "piece 0: expected a finite score, found nan");
}
