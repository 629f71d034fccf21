#include "nn/text/bpe_trainer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "autograd/error.h"
#include "autograd/random.h"
#include "nn/text/text_file.h"

using namespace gradus;
using namespace gradus::nn;

static const std::filesystem::path cs336 = std::filesystem::path(GRADUS_SHARED_DIR) / "data/cs336";

static BpeTokenizer train(const std::string& text, const BpeTrainerOptions& options) {
  const std::string_view texts[] = {text};
  return train_bpe(texts, options);
}

// Merges as pairs of texts.
using Merges = std::vector<std::pair<std::string, std::string>>;

static Merges merges_of(const BpeTokenizer& tokenizer) {
  Merges merges;
  for (const auto& [left, right] : tokenizer.model().merges) {
    const int ids[] = {left, right};
    merges.emplace_back(tokenizer.decode(std::span(ids, 1)), tokenizer.decode(std::span(ids + 1, 1)));
  }
  return merges;
}

TEST_CASE("the textbook's example: aa, then (aa)a, then (aaa)b") {
  const std::string text = "aaabdaaabac";
  const BpeTokenizer tokenizer = train(text, {.vocab_size = 259, .pattern = Pattern::none});
  CHECK(merges_of(tokenizer) == Merges{{"a", "a"}, {"aa", "a"}, {"aaa", "b"}});
  CHECK(tokenizer.encode(text) == std::vector{258, 100, 258, 97, 99});
}

TEST_CASE("the reference's merges of an English text, in its order") {
  if (!std::filesystem::exists(cs336)) {
    MESSAGE("skipped: " << cs336.string() << " is not there");
    return;
  }
  const BpeTokenizer tokenizer =
      train(read_text_file(cs336 / "corpus.en", "a text"), {.vocab_size = 500, .specials = {"<|endoftext|>"}});
  std::ifstream lines(cs336 / "train-bpe-reference-merges.txt");
  const std::vector<std::string>& spellings = tokenizer.model().spellings;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line); ++number) {
    REQUIRE(number < tokenizer.model().merges.size());
    const auto [left, right] = tokenizer.model().merges[number];
    CHECK(spellings[left] + " " + spellings[right] == line);
  }
  CHECK(number == tokenizer.model().merges.size());

  const auto vocabulary = nlohmann::json::parse(read_text_file(cs336 / "train-bpe-reference-vocab.json", "a vocabulary"));
  std::set<std::string> expected;
  for (const auto& [spelling, id] : vocabulary.items()) expected.insert(spelling);
  CHECK(std::set(spellings.begin(), spellings.end()) == expected);
}

// The rule as it is said: count all pairs, merge the best one everywhere, begin again.
static Merges train_slowly(const std::vector<std::string>& words, std::size_t count) {
  std::vector<std::vector<std::string>> symbols;
  for (const std::string& word : words) {
    symbols.emplace_back();
    for (const char c : word) symbols.back().emplace_back(1, c);
  }
  Merges merges;
  while (merges.size() < count) {
    std::map<std::pair<std::string, std::string>, int> counts;
    for (const auto& word : symbols)
      for (std::size_t i = 0; i + 1 < word.size(); ++i) ++counts[{word[i], word[i + 1]}];
    if (counts.empty()) break;
    const auto best = std::ranges::max_element(counts, {}, [](const auto& entry) { return std::pair(entry.second, entry.first); });
    merges.push_back(best->first);
    for (auto& word : symbols)
      for (std::size_t i = 0; i + 1 < word.size(); ++i) {
        if (word[i] != best->first.first || word[i + 1] != best->first.second) continue;
        word[i] += word[i + 1];
        word.erase(word.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      }
  }
  return merges;
}

TEST_CASE("counting only what changes finds what counting everything again finds") {
  Rng rng(5);
  for (int trial = 0; trial < 60; ++trial) {
    std::string text, letters = trial % 2 == 0 ? "ab" : "abcd";
    std::vector<std::string> words;
    for (int word = 0; word < 12; ++word) {
      words.emplace_back(word == 0 ? "" : " ");
      for (std::size_t i = 0; i <= rng.below(12); ++i) words.back() += letters[rng.below(letters.size())];
      text += words.back();
    }
    CAPTURE(text);
    const BpeTokenizer tokenizer = train(text, {.vocab_size = 256 + 25});
    Merges expected = train_slowly(words, 200);
    Merges found = merges_of(tokenizer);
    expected.resize(std::min(expected.size(), found.size()));
    CHECK(found == expected);
  }
}

TEST_CASE("no merge crosses a special token, and none is counted inside one") {
  const std::string end = "<|endoftext|>";
  std::string text;
  for (int i = 0; i < 50; ++i) text += "ab" + end;
  const BpeTokenizer tokenizer = train(text, {.vocab_size = 300, .pattern = Pattern::none, .specials = {end}});
  CHECK(merges_of(tokenizer) == Merges{{"a", "b"}});
  CHECK(tokenizer.encode(text, Specials::allowed).size() == 100);
  CHECK(tokenizer.special_tokens().size() == 1);
  CHECK(tokenizer.end_token() == 257);
}

TEST_CASE("no merge crosses from one text into the next") {
  const std::string_view texts[] = {"a", "b", "a", "b"};
  CHECK(train_bpe(texts, {.vocab_size = 300, .pattern = Pattern::none}).vocab_size() == 256);
}

TEST_CASE("merging stops where no pair is left, and bytes alone are a tokenizer") {
  CHECK(train("abc", {.vocab_size = 1000}).vocab_size() == 258);
  CHECK(train("", {.vocab_size = 1000}).vocab_size() == 256);
  CHECK(train("abc", {.vocab_size = 256}).encode("abc") == std::vector<int>{'a', 'b', 'c'});
}

TEST_CASE("a text of one long word is learnt as fast as any other") {
  const std::string text(1'000'000, 'a');
  const BpeTokenizer tokenizer = train(text, {.vocab_size = 276, .pattern = Pattern::none});
  CHECK(merges_of(tokenizer).back().first.size() == (1 << 19));
  CHECK(tokenizer.decode(tokenizer.encode(text)) == text);
}

TEST_CASE("a vocabulary too small for bytes and special tokens is refused with both numbers") {
  CHECK_THROWS_WITH_AS(train("abc", {.vocab_size = 257, .specials = {"<a>", "<b>"}}),
                       "bpe: a vocabulary of 257 is too small for 256 bytes and 2 special tokens; ask for 258 or more",
                       ShapeError);
  CHECK_THROWS_AS(train("abc", {.vocab_size = 300, .specials = {"<a>", "<a>"}}), ShapeError);
  CHECK_THROWS_AS(train("abc", {.vocab_size = 300, .specials = {""}}), ShapeError);
}
