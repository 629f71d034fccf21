#include "nn/text/utf8_sampler.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "nn/text/bpe_trainer.h"
#include "nn/text/byte_tokenizer.h"
#include "nn/text/text_stream.h"
#include "nn/text/utf8.h"

using namespace gradus;
using namespace gradus::nn;

// Logits that know nothing.
static const std::vector<Real>& ignorance(std::size_t size) {
  static std::vector<Real> row;
  row.assign(size, 0);
  return row;
}

TEST_CASE("whatever the logits, what is drawn is UTF-8, and whole characters at every moment it is shown") {
  const std::string_view text = "ab \xC3\xA9\xC3\xA9 \xE7\x8C\xAB\xE7\x8C\xAB\xE7\x8C \xF0\x9F\x90\x88\xF0\x9F\x90";
  const BpeTokenizer merged = train_bpe(std::span(&text, 1), {.vocab_size = 266});
  const ByteTokenizer bytes;
  for (const Tokenizer* tokenizer : {static_cast<const Tokenizer*>(&bytes), static_cast<const Tokenizer*>(&merged)}) {
    const Sampler sampler = keep_utf8(make_sampler({}, Rng(3)), *tokenizer);
    std::vector<int> ids = {'a'};
    TextStream stream(*tokenizer, ids);
    std::string shown;
    std::size_t beyond_ascii = 0;
    for (int i = 0; i < 3000; ++i) {
      ids.push_back(sampler(ignorance(tokenizer->vocab_size()), ids));
      const std::string piece = stream.push(ids.back());
      CHECK(is_utf8(piece));
      beyond_ascii += std::ranges::any_of(piece, [](char byte) { return byte < 0; });
      shown += piece;
    }
    CHECK(is_utf8(shown));
    CHECK(beyond_ascii > 500);
  }
}

TEST_CASE("what keeps a text whole leaves the proportions of the tokens that may follow") {
  const ByteTokenizer bytes;
  LogitRow seen;
  const Sampler look = [&](std::span<const Real> logits, std::span<const int>) {
    seen.assign(logits.begin(), logits.end());
    return 0;
  };
  std::vector<Real> logits(256);
  for (std::size_t id = 0; id < 256; ++id) logits[id] = static_cast<Real>(id) / 8;
  const auto kept = [&](const std::vector<int>& context) {
    keep_utf8(look, bytes)(logits, context);
    std::vector<int> ids;
    for (std::size_t id = 0; id < 256; ++id) {
      if (std::isinf(seen[id])) continue;
      CHECK(seen[id] == static_cast<double>(logits[id]));
      ids.push_back(static_cast<int>(id));
    }
    return std::tuple(ids.front(), ids.back(), ids.size());
  };
  CHECK(kept({'a'}) == std::tuple(0, 0xF4, 128 + 51));            // ASCII and the bytes that begin a character
  CHECK(kept({'a', 0xC3}) == std::tuple(0x80, 0xBF, 64));         // the other byte of a pair
  CHECK(kept({0xE0}) == std::tuple(0xA0, 0xBF, 32));              // no overlong forms
  CHECK(kept({0xE7, 0x8C}) == std::tuple(0x80, 0xBF, 64));
  CHECK(kept({'a', 0xFF}) == std::tuple(0, 0xF4, 128 + 51));      // what is broken already is left behind
  CHECK(kept({0xE7, 0x8C, 0xAB}) == std::tuple(0, 0xF4, 128 + 51));
}
