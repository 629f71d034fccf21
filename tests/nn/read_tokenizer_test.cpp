// Tokenizers from wherever they are kept, GPT-2's and llama2.c's among them.
#include "nn/text/read_tokenizer.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "autograd/error.h"
#include "nn/text/bpe_trainer.h"
#include "nn/text/gpt2_tokenizer.h"
#include "nn/text/llama2c_tokenizer.h"
#include "nn/text/text_file.h"
#include "tests/nn/temporary_folder.h"
#include "tests/shared_data.h"

using namespace gradus;
using namespace gradus::nn;
namespace fs = std::filesystem;

static std::string small_json() {
  const std::string_view texts[] = {"abab"};
  return train_bpe(texts, {.vocab_size = 259, .specials = {"<fin>", "</s>"}}).to_json();
}

static std::string refusal(const std::string& place) {
  try {
    read_tokenizer(place);
  } catch (const FileError& error) {
    return error.what();
  }
  return "none";
}

TEST_CASE("a place is a file, a folder or the word bytes") {
  const TemporaryFolder folder;
  CHECK(read_tokenizer("bytes")->name() == "bytes");
  const fs::path file = folder.write("tokenizer.json", small_json());
  CHECK(read_tokenizer(file.string())->vocab_size() == 259);
  CHECK(read_tokenizer(folder.path().string())->vocab_size() == 259);
  folder.write("chars.json", "{\"type\": \"chars\", \"vocabulary\": [\"a\", \"b\"]}");
  CHECK(read_tokenizer((folder / "chars.json").string())->name() == "chars");
  if (absent()) return;
  CHECK(read_tokenizer((data / "stories260K/tok512.bin").string())->vocab_size() == 512);
  CHECK(read_tokenizer((data / "minimind-tokenizer").string())->end_token() == 2);
  CHECK(read_tokenizer((data / "story656k-hf").string())->end_token() == 2);
}

TEST_CASE("tokenizer_config.json names the end token, by its text or as an object, and it must exist") {
  const TemporaryFolder folder;
  folder.write("tokenizer.json", small_json());
  const auto with = [&](const char* config) {
    folder.write("tokenizer_config.json", config);
    return read_tokenizer(folder.path().string())->end_token();
  };
  CHECK(with("{\"eos_token\": \"<fin>\"}") == 257);
  CHECK(with("{\"eos_token\": {\"content\": \"<fin>\"}}") == 257);
  CHECK(with("{\"eos_token\": null}") == 258);
  CHECK(with("{}") == 258);
  folder.write("tokenizer_config.json", "{\"eos_token\": \"<x>\"}");
  CHECK(refusal(folder.path().string()) == (folder / "tokenizer_config.json").string() +
        ": expected \"eos_token\" to be a special token of the tokenizer beside it, found \"<x>\"");
}

TEST_CASE("a place with no tokenizer is refused by its name") {
  const TemporaryFolder folder;
  const std::string empty = folder.path().string(), none = (folder / "none").string();
  CHECK(refusal(empty) == empty + ": expected a folder with tokenizer.json, vocab.json or tokenizer.bin, found none of them");
  CHECK(refusal(none) == none + ": expected a tokenizer's file or folder, or the word bytes, found no such file");
  const std::string bin = folder.write("x.bin", "").string();
  CHECK(refusal(bin) == bin + ": expected a vocabulary of 3 to 2147483647 pieces, found a model with 0");
}

TEST_CASE("a llama2.c file that is cut off anywhere is refused") {
  if (absent()) return;
  const TemporaryFolder folder;
  const std::string whole = read_text_file(data / "stories260K/tok512.bin", "a tokenizer");
  for (const std::size_t length : {std::size_t{0}, std::size_t{3}, std::size_t{11}, whole.size() / 2 + 1, whole.size() - 1})
    CHECK(refusal(folder.write("cut.bin", whole.substr(0, length)).string()) != "none");
}

TEST_CASE("llama2.c's space: a text begins with one that decoding takes away, and keeps its own") {
  if (absent()) return;
  const auto tokenizer = read_tokenizer((data / "stories260K/tok512.bin").string());
  const int space = tokenizer->encode(" ")[1];
  CHECK(tokenizer->decode(std::vector{1, space}) == "");
  CHECK(tokenizer->decode(std::vector{1, space, space}) == " ");
  CHECK(tokenizer->decode(std::vector{space}) == " ");
  const std::vector<int> ids = tokenizer->encode("ab");
  CHECK(tokenizer->decode(std::span(ids).subspan(1)) == " ab");
  CHECK(tokenizer->decode(ids) == "ab");
  CHECK(tokenizer->decode(tokenizer->encode("  hello")) == "  hello");
}

TEST_CASE("GPT-2's files give its ids, and every corpus comes back") {
  if (absent()) return;
  const auto tokenizer = read_tokenizer((data / "cs336/gpt2_vocab.json").string());
  CHECK(tokenizer->vocab_size() == 50257);
  CHECK(tokenizer->end_token() == 50256);
  CHECK(tokenizer->special_tokens().size() == 1);
  // Ids as GPT-2's authors and users quote them.
  CHECK(tokenizer->encode("Hello world") == std::vector{15496, 995});
  CHECK(tokenizer->encode("Hello, my dog is cute") == std::vector{15496, 11, 616, 3290, 318, 13779});
  CHECK(tokenizer->encode("<|endoftext|>", Specials::allowed) == std::vector{50256});
  std::size_t files = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(data / "corpora")) {
    if (!entry.is_regular_file()) continue;
    CAPTURE(entry.path().string());
    const std::string text = read_text_file(entry.path(), "a text");
    for (const Specials specials : {Specials::as_text, Specials::allowed})
      CHECK(tokenizer->decode(tokenizer->encode(text, specials)) == text);
    ++files;
  }
  CHECK(files > 10);
}

TEST_CASE("GPT-2's files are refused with the line or the token that does not fit") {
  const TemporaryFolder folder;
  const std::string vocabulary = (folder / "vocab.json").string(), merges = (folder / "merges.txt").string();
  const auto with = [&](const char* tokens, const char* lines) {
    folder.write("vocab.json", tokens);
    folder.write("merges.txt", lines);
    return refusal(folder.path().string());
  };
  const char* good = R"({"a": 0, "b": 1, "ab": 2})";
  CHECK(with(good, "#version: 0.2\r\na b\r\n") == "none");
  CHECK(with(good, "a b") == "none");
  CHECK(with(good, "a b\nab") == merges + ": expected two tokens of the vocabulary in line 2, found \"ab\"");
  CHECK(with(good, "a c\n") == merges + ": expected two tokens of the vocabulary in line 1, found \"a c\"");
  CHECK(with(good, "b a\n") == vocabulary + ": expected a vocabulary that fits " + merges +
                                   ", found a fault: bpe: merge 0 makes \"ba\", which is not in the vocabulary");
  CHECK(with(R"({"a": 0, "b": 2})", "") ==
        vocabulary + ": expected 2 tokens to have the ids 0 to 1, each once, found \"b\" with 2");
  CHECK(with(R"({"a": 0, "b": "x"})", "") ==
        vocabulary + ": expected 2 tokens to have the ids 0 to 1, each once, found \"b\" with \"x\"");
  CHECK(with("[]", "") == vocabulary + ": expected a tokenizer as a JSON object, found array");
  folder.write("vocab.json", good);
  fs::remove(folder / "merges.txt");
  CHECK(refusal(vocabulary) == merges + ": expected a list of merges, found: No such file or directory");
}
