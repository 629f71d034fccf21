#include "nn/text/text_stream.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "autograd/error.h"
#include "autograd/random.h"
#include "nn/text/byte_tokenizer.h"

using namespace gradus;
using namespace gradus::nn;

namespace {

// Token i is the text pieces[i]. With `dummy_space`, the space that the first piece of a text begins with is left out,
// as in SentencePiece's vocabularies.
struct Pieces : ByteTokenizer {
  std::vector<std::string> pieces;
  bool dummy_space;
  explicit Pieces(std::vector<std::string> list, bool space = false) : pieces(std::move(list)), dummy_space(space) {}
  std::string decode(std::span<const int> ids) const override {
    std::string text;
    for (int id : ids) text += pieces.at(id);
    return dummy_space && text.starts_with(' ') ? text.substr(1) : text;
  }
};

// What each token shows, and last what the end of the text does.
std::vector<std::string> shown(TextStream stream, const std::vector<int>& ids) {
  std::vector<std::string> parts;
  for (int id : ids) parts.push_back(stream.push(id));
  parts.push_back(stream.flush());
  return parts;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += part;
  return text;
}

using Parts = std::vector<std::string>;

}  // namespace

// Programs that print each token at once show a replacement mark for half an emoji.
TEST_CASE("an emoji split over two tokens is shown whole with the second") {
  const Pieces tokenizer({"\xF0\x9F", "\x98\x8A", "!"});
  CHECK(shown(TextStream(tokenizer), {0, 1, 2}) == Parts{"", "\xF0\x9F\x98\x8A", "!", ""});
  CHECK(shown(TextStream(tokenizer), {2, 0}) == Parts{"!", "", "\xF0\x9F"});
  CHECK(shown(TextStream(tokenizer), {1, 2}) == Parts{"\x98\x8A", "!", ""});
}

TEST_CASE("a token's text is what it adds to the token before it, the prompt's last one for the first") {
  const Pieces tokenizer({" a", " b"}, true);
  CHECK(shown(TextStream(tokenizer), {0, 1}) == Parts{"a", " b", ""});
  const std::vector<int> prompt = {1};
  CHECK(shown(TextStream(tokenizer, prompt), {0, 1}) == Parts{" a", " b", ""});
}

TEST_CASE("what may become a stop string waits, and is shown once it cannot") {
  const Pieces tokenizer({"a", "\n", "\nUser", ":", "b", "User:"});
  const auto stream = [&] { return TextStream(tokenizer, {}, {"\nUser:"}); };
  CHECK(shown(stream(), {0, 1, 4, 0}) == Parts{"a", "", "\nb", "a", ""});
  CHECK(shown(stream(), {0, 2, 3, 4}) == Parts{"a", "", "", "", ""});
  CHECK(shown(stream(), {0, 2, 4}) == Parts{"a", "", "\nUserb", ""});
  CHECK(shown(stream(), {0, 1, 1, 5, 4}) == Parts{"a", "", "\n", "", "", ""});
  CHECK(shown(stream(), {0, 2}) == Parts{"a", "", "\nUser"});
}

TEST_CASE("a stream says when a stop string is there, and shows nothing any more") {
  const Pieces tokenizer({"one", " st", "op here", "two"});
  TextStream stream(tokenizer, {}, {"stop"});
  CHECK(stream.push(0) == "one");
  CHECK(stream.push(1) == " ");
  CHECK_FALSE(stream.stopped());
  CHECK(stream.push(2) == "");
  CHECK(stream.stopped());
  CHECK(stream.push(3) == "");
  CHECK(stream.flush() == "");
}

TEST_CASE("of stop strings the first to be complete ends the text, the longest where several are") {
  const Pieces tokenizer({"xabcd", "xab", "cd"});
  for (const std::vector<int>& ids : {std::vector{0}, {1, 2}}) {
    CHECK(joined(shown(TextStream(tokenizer, {}, {"abcd", "bc"}), ids)) == "xa");
    CHECK(joined(shown(TextStream(tokenizer, {}, {"bc", "abc"}), ids)) == "x");
  }
}

TEST_CASE("an empty stop string is refused") {
  const ByteTokenizer tokenizer;
  CHECK_THROWS_WITH_AS(TextStream(tokenizer, {}, {"a", ""}), "text_stream: a stop string is empty; it is everywhere",
                       ShapeError);
}

// The definition, letter by letter.
static std::string before_stop(const std::string& text, const Parts& stops) {
  for (std::size_t end = 1; end <= text.size(); ++end) {
    std::size_t longest = 0;
    for (const std::string& stop : stops)
      if (std::string_view(text).substr(0, end).ends_with(stop)) longest = std::max(longest, stop.size());
    if (longest > 0) return text.substr(0, end - longest);
  }
  return text;
}

TEST_CASE("what is shown is the decoded text up to the stop string, byte for byte, wherever tokens end") {
  Rng rng(3);
  const std::string pool = "aab\n\xC3\xA9\xF0\x9F\x98\x8A\xFF";
  const auto random_text = [&](std::size_t longest) {
    std::string text;
    for (std::size_t i = 1 + rng.below(longest); i > 0; --i) text += pool[rng.below(pool.size())];
    return text;
  };
  for (int trial = 0; trial < 2000; ++trial) {
    Parts pieces, stops;
    for (int i = 0; i < 8; ++i) pieces.push_back(random_text(4));
    for (int i = trial % 4; i > 0; --i) stops.push_back(random_text(5));
    const Pieces tokenizer(pieces);
    std::vector<int> ids(1 + rng.below(30));
    for (int& id : ids) id = static_cast<int>(rng.below(8));
    REQUIRE(joined(shown(TextStream(tokenizer, {}, stops), ids)) == before_stop(tokenizer.decode(ids), stops));
  }
}
