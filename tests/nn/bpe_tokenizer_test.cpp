#include "nn/text/bpe_tokenizer.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "autograd/error.h"
#include "autograd/random.h"
#include "nn/text/bpe_trainer.h"

using namespace gradus;
using namespace gradus::nn;

static const std::string english =
    "the theme of the thesis is the thing; then they say hello--hello, and \"the end\".\n\n  It's theirs, isn't it?";

static BpeTokenizer trained(Pattern pattern, std::size_t vocab_size = 300, std::vector<std::string> specials = {}) {
  const std::string_view texts[] = {english};
  return train_bpe(texts, {.vocab_size = vocab_size, .pattern = pattern, .specials = std::move(specials)});
}

// A vocabulary as LLaMA's: special tokens, 256 bytes, characters, and what is merged from them.
static BpeTokenizer llama_like(bool begins) {
  BpeModel model;
  model.alphabet = BpeModel::Alphabet::characters;
  model.prefix_space = true;
  model.spellings = {"<unk>", "<s>", "</s>"};
  for (int byte = 0; byte < 256; ++byte) model.spellings.push_back(message("<0x{:02X}>", byte));
  for (const char* spelling : {"▁", "a", "b", "é", "▁a", "▁▁", "ab", "▁ab"}) model.spellings.emplace_back(spelling);
  model.merges = {{259, 260}, {259, 259}, {260, 261}, {263, 261}};
  model.added = {{"<unk>", 0}, {"<s>", 1}, {"</s>", 2}};
  if (begins) model.begin = 1;
  return BpeTokenizer(model);
}

static std::vector<std::string> awkward_texts() {
  std::vector<std::string> texts = {"", " ", "   x", "\ta\r\nb\r\n", "\n\n\n", "hello--world", "\xE6\xAD", "a\x80z",
                                    "\xFF\xFE", "▁", " ▁ ▁a", "<0x41>", "<s>", "<|endoftext|>", "  hello", "Ġ", "é e\u0301",
                                    std::string("a\0b\0", 4)};
  for (int byte = 0; byte < 256; ++byte) texts.emplace_back(1, static_cast<char>(byte));
  std::string noise;
  for (Rng rng(1); noise.size() < 1 << 20;) noise += static_cast<char>(rng.bits());
  texts.push_back(noise);
  return texts;
}

TEST_CASE("any bytes come back from their ids: blanks, half characters, a megabyte of noise") {
  std::vector<BpeTokenizer> tokenizers;
  for (const Pattern pattern : {Pattern::none, Pattern::gpt2, Pattern::llama3, Pattern::qwen2})
    tokenizers.push_back(trained(pattern, 300, {"<|endoftext|>"}));
  for (const bool begins : {true, false}) tokenizers.push_back(llama_like(begins));
  for (const std::string& text : awkward_texts())
    for (const BpeTokenizer& tokenizer : tokenizers) {
      const bool same = tokenizer.decode(tokenizer.encode(text)) == text;
      const bool same_allowed = tokenizer.decode(tokenizer.encode(text, Specials::allowed)) == text;
      if (!same || !same_allowed) CAPTURE(text.substr(0, 40));
      CHECK(same);
      CHECK(same_allowed);
    }
}

TEST_CASE("a text that spells a special token stays text, unless the caller allows it: then it is one id") {
  const BpeTokenizer tokenizer = trained(Pattern::gpt2, 300, {"<|endoftext|>", "<|end|>"});
  const std::string text = "the<|endoftext|><|end|>then";
  const std::vector<int> plain = tokenizer.encode(text), allowed = tokenizer.encode(text, Specials::allowed);
  CHECK(std::ranges::all_of(plain, [](int id) { return id < 298; }));
  CHECK(std::ranges::count(allowed, 298) == 1);
  CHECK(std::ranges::count(allowed, 299) == 1);
  CHECK(tokenizer.encode("<|endoftext|>", Specials::allowed) == std::vector{298});
  CHECK(tokenizer.decode(plain) == text);
  CHECK(tokenizer.decode(allowed) == text);
}

TEST_CASE("of special tokens that begin at one place the longest is found, and text may break off inside one") {
  const BpeTokenizer tokenizer = trained(Pattern::none, 261, {"<a", "<a>b"});
  CHECK(tokenizer.encode("<a>b<a>", Specials::allowed) == std::vector<int>{260, 259, '>'});
  CHECK(tokenizer.encode("<<a", Specials::allowed) == std::vector<int>{'<', 259});
  CHECK(tokenizer.encode("<", Specials::allowed) == std::vector<int>{'<'});
}

TEST_CASE("an added token that is not special is found in every text") {
  BpeModel model = trained(Pattern::gpt2, 260).model();
  model.spellings.push_back("<think>");
  model.added.push_back({"<think>", 260, false});
  const BpeTokenizer tokenizer(model);
  CHECK(tokenizer.encode("<think>") == std::vector{260});
  CHECK(tokenizer.special_tokens().empty());
}

// The rule as it is said: look for the first merge of the list that is there, apply it at the leftmost place, begin again.
static std::vector<int> merge_slowly(const BpeModel& model, std::vector<int> ids) {
  const auto id_of = [&](const std::string& spelling) {
    return static_cast<int>(std::ranges::find(model.spellings, spelling) - model.spellings.begin());
  };
  for (;;) {
    std::size_t best = model.merges.size(), place = 0;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      const auto rank = std::ranges::find(model.merges, std::pair(ids[i], ids[i + 1])) - model.merges.begin();
      if (static_cast<std::size_t>(rank) >= best) continue;
      best = static_cast<std::size_t>(rank);
      place = i;
    }
    if (best == model.merges.size()) return ids;
    ids[place] = id_of(model.spellings[ids[place]] + model.spellings[ids[place + 1]]);
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
}

TEST_CASE("merging through a queue finds what looking at all pairs finds") {
  const BpeTokenizer bytes = trained(Pattern::none, 290), characters = llama_like(true);
  Rng rng(7);
  for (int trial = 0; trial < 300; ++trial) {
    std::string text, small;
    const std::size_t length = rng.below(40);
    for (std::size_t i = 0; i < length; ++i) text += english[rng.below(english.size())];
    for (std::size_t i = 0; i < length; ++i) small += "ab "[rng.below(3)];
    CAPTURE(text);
    std::vector<int> ids;
    for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
    CHECK(bytes.encode(text) == merge_slowly(bytes.model(), ids));

    ids = {1};
    if (!small.empty()) ids.push_back(259);
    for (const char c : small) ids.push_back(c == ' ' ? 259 : c == 'a' ? 260 : 261);
    CHECK(characters.encode(small) == merge_slowly(characters.model(), ids));
  }
}

// Where the best pair is looked for again after each merge, two million letters take hours.
TEST_CASE("a long text without a break is no harder than any other") {
  const std::string text(2'000'000, 'a'), model_text(64, 'a');
  const std::string_view texts[] = {model_text};
  for (const Pattern pattern : {Pattern::none, Pattern::gpt2}) {
    const BpeTokenizer tokenizer = train_bpe(texts, {.vocab_size = 262, .pattern = pattern});
    const std::vector<int> ids = tokenizer.encode(text);
    CHECK(ids.size() == text.size() / 64);
    CHECK(tokenizer.decode(ids) == text);
  }
  const BpeTokenizer characters = llama_like(true);
  CHECK(characters.decode(characters.encode(std::string(2'000'000, ' '))) == std::string(2'000'000, ' '));
}

TEST_CASE("characters: a text is read with a space before it, which decoding takes away, and no other") {
  const BpeTokenizer tokenizer = llama_like(true);
  CHECK(tokenizer.encode("ab") == std::vector{1, 266});
  CHECK(tokenizer.encode(" ab") == std::vector{1, 259, 266});
  CHECK(tokenizer.encode("  ab") == std::vector{1, 264, 266});
  CHECK(tokenizer.encode("") == std::vector{1});
  CHECK(tokenizer.decode(std::vector{1, 266}) == "ab");
  CHECK(tokenizer.decode(std::vector{1, 264, 266}) == "  ab");
  // A token alone, in the middle of a text, keeps its space.
  CHECK(tokenizer.decode(std::vector{266}) == " ab");
  CHECK(llama_like(false).decode(std::vector{266}) == "ab");
  CHECK(tokenizer.begin_token() == 1);
  CHECK(tokenizer.end_token() == 2);
}

TEST_CASE("characters: what the vocabulary lacks becomes its bytes, and so does the mark of spaces") {
  const BpeTokenizer tokenizer = llama_like(true);
  CHECK(tokenizer.encode("é") == std::vector{1, 259, 262});
  CHECK(tokenizer.encode("歪") == std::vector{1, 259, 3 + 0xE6, 3 + 0xAD, 3 + 0xAA});
  CHECK(tokenizer.encode("▁") == std::vector{1, 259, 3 + 0xE2, 3 + 0x96, 3 + 0x81});
  CHECK(tokenizer.encode("<") == std::vector{1, 259, 3 + '<'});

  BpeModel model;
  model.alphabet = BpeModel::Alphabet::characters;
  model.spellings = {"a", "▁"};
  CHECK_THROWS_WITH_AS(BpeTokenizer(model).encode("a a\u00E9"), "bpe: byte 0xC3 of the character at offset 3 is not in the "
                       "vocabulary, nor is the character; use a tokenizer that has all bytes", ShapeError);
}

TEST_CASE("a prompt has one begin token, in front, also if it spells one") {
  const BpeTokenizer tokenizer = llama_like(true);
  for (const char* text : {"", "ab", "<s>", "\n<s>\n", "<s> ab </s>"}) {
    CAPTURE(text);
    const std::vector<int> ids = tokenizer.encode(text);
    CHECK(ids.front() == 1);
    CHECK(std::ranges::count(ids, 1) == 1);
  }
}

TEST_CASE("a merge that spells a special token or a byte's token never applies") {
  BpeModel model = trained(Pattern::none, 256).model();
  model.spellings.push_back("ab");
  model.merges = {{'a', 'b'}};
  model.added = {{"ab", 256}};
  CHECK(BpeTokenizer(model).encode("ab") == std::vector<int>{'a', 'b'});
  CHECK(BpeTokenizer(model).encode("ab", Specials::allowed) == std::vector{256});

  model = {};
  model.alphabet = BpeModel::Alphabet::characters;
  model.spellings = {"<0x4", "1>", "<0x41>", "<", "0", "x", "4", "1", ">", "<0", "<0x"};
  model.merges = {{3, 4}, {9, 5}, {10, 6}, {7, 8}, {0, 1}};
  CHECK(BpeTokenizer(model).encode("<0x41>") == std::vector{0, 1});
}

TEST_CASE("whole words: a pre-token that is in the vocabulary needs no merges") {
  BpeModel model = trained(Pattern::gpt2, 256).model();
  model.spellings.push_back("Ġxyz");
  CHECK(BpeTokenizer(model).encode(" xyz").size() == 4);
  model.whole_words = true;
  CHECK(BpeTokenizer(model).encode(" xyz") == std::vector{256});
}

TEST_CASE("the end token is the one that the model names, or else a special token of a usual name") {
  CHECK(trained(Pattern::gpt2, 258, {"<|endoftext|>", "<|im_end|>"}).end_token() == 257);
  CHECK(trained(Pattern::gpt2, 257, {"<|endoftext|>"}).end_token() == 256);
  CHECK_FALSE(trained(Pattern::gpt2, 257, {"<|begin|>"}).end_token());
  BpeModel model = trained(Pattern::gpt2, 258, {"<|im_end|>", "<|stop|>"}).model();
  model.end = 257;
  CHECK(BpeTokenizer(model).end_token() == 257);
}

TEST_CASE("an id outside the vocabulary is refused by its number and position") {
  const std::vector ids = {65, 300};
  CHECK_THROWS_WITH_AS(trained(Pattern::gpt2).decode(ids), "bpe: id 300 at position 1 must be below the vocabulary's 300 tokens",
                       ShapeError);
}

TEST_CASE("a model that contradicts itself is refused") {
  const BpeModel good = trained(Pattern::none, 257).model();
  const auto refused = [&](auto&& change, const char* what) {
    BpeModel model = good;
    change(model);
    CHECK_THROWS_WITH_AS(BpeTokenizer{model}, what, ShapeError);
  };
  refused([](BpeModel& m) { m.merges[0].second = 257; }, "bpe: a merge's right part has id 257, but the vocabulary has 257 tokens");
  refused([](BpeModel& m) { m.merges[0] = {'q', 'q'}; }, "bpe: merge 0 makes \"qq\", which is not in the vocabulary");
  refused([](BpeModel& m) { m.merges.push_back(m.merges[0]); }, "bpe: merge 1, of \"h\" and \"e\", stands there twice");
  refused([](BpeModel& m) { m.spellings.push_back("he"); }, "bpe: id 257 spells \"he\" as another id does");
  refused([](BpeModel& m) { m.spellings.push_back("a b"); },
          "bpe: id 257 spells \"a b\", which stands for no bytes; is it an added token?");
  refused([](BpeModel& m) { m.added = {{"a", -1}}; }, "bpe: an added token has id -1, but the vocabulary has 257 tokens");
  refused([](BpeModel& m) { m.added = {{"b", 'a'}}; },
          "bpe: id 97 must spell \"b\" in the vocabulary as among the added tokens, found \"a\"");
  refused([](BpeModel& m) { m.begin = 257; }, "bpe: the begin token has id 257, but the vocabulary has 257 tokens");
  refused([](BpeModel& m) { m.alphabet = BpeModel::Alphabet::characters, m.whole_words = true; },
          "bpe: the alphabet of characters goes with no pattern and without whole words");
  refused([](BpeModel& m) { m.added = {{"", 0}}; }, "tokenizer: a special token must have 1 to 512 bytes, not 0");
  refused([](BpeModel& m) { m.added = {{"a", 'a'}, {"a", 'a'}}; },
          "tokenizer: the special token \"a\" must be given once, not twice");
  refused([](BpeModel& m) { m.added = {{"\xFF", 0}}; },
          "tokenizer: special token 0 must be UTF-8, so that a file can name it");
}
