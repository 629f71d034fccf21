#include "optim/story_grammar.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "autograd/error.h"
#include "optim/story_tables.h"

using namespace gradus;
using namespace gradus::optim;

// So much of an option is known before its next choice.
static std::string_view beginning(std::string_view option) { return option.substr(0, option.find_first_of("[/")); }

TEST_CASE("no option of a table begins with the whole of another, so a text has one derivation") {
  for (const auto& [table, options] : story_tables())
    for (std::string_view one : options)
      for (std::string_view other : options) {
        CAPTURE(one);
        CAPTURE(other);
        if (one.data() != other.data()) CHECK_FALSE(beginning(one).starts_with(beginning(other)));
      }
}

TEST_CASE("every table is used, and every choice has its table") {
  std::set<std::string_view> used = {"story"}, known;
  for (const auto& [table, options] : story_tables()) {
    known.insert(table);
    CHECK_FALSE(options.empty());
    for (std::string_view option : options)
      for (std::size_t open = 0; (open = option.find('[', open)) != option.npos; ++open) {
        const std::string_view slot = option.substr(open + 1, option.find(']', open) - open - 1);
        used.insert(slot.substr(slot.find('=') + 1));
      }
  }
  CHECK(used == known);
}

TEST_CASE("words that may follow a begin with a consonant") {
  for (const char* table : {"trait", "odd", "taste", "colour", "faint", "weather"})
    for (std::string_view word : story_tables().at(table)) {
      CAPTURE(word);
      CHECK(std::string_view("aeiou").find(word[0]) == std::string_view::npos);
    }
}

TEST_CASE("reading a story by the grammar finds the choices that told it") {
  Rng rng(1);
  for (int i = 0; i < 3000; ++i) {
    const Story story = tell_story(rng);
    CAPTURE(story.text);
    REQUIRE(story_nats(story.text) == story.nats);
  }
}

TEST_CASE("a story is one paragraph of ASCII and ends with a blank line") {
  Rng rng(2);
  for (int i = 0; i < 300; ++i) {
    const std::string text = tell_story(rng).text;
    CAPTURE(text);
    CHECK(text.find("\n\n") == text.size() - 2);
    CHECK(std::count(text.begin(), text.end(), '\n') == 2);
    CHECK(std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
    CHECK(text.find_first_of("[]{}/") == text.npos);
    CHECK(text.size() >= 250);
    CHECK(text.size() <= 800);
  }
}

TEST_CASE("the mean of many stories' nats is the expected nats, within five standard errors") {
  Rng rng(3);
  const int n = 20000;
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i) {
    const double nats = tell_story(rng).nats;
    sum += nats;
    squares += nats * nats;
  }
  const double mean = sum / n, standard_error = std::sqrt((squares / n - mean * mean) / n);
  CHECK(std::abs(mean - expected_story_nats()) < 5 * standard_error);
}

TEST_CASE("a corpus is whole stories, its nats are those of its text, and its seed decides it") {
  const StoryCorpus corpus = story_corpus(7, 20000);
  CHECK(corpus.text.size() >= 20000);
  CHECK(corpus.text.size() < 21000);
  CHECK(story_nats(corpus.text) / static_cast<double>(corpus.text.size()) == doctest::Approx(corpus.nats_per_byte));
  CHECK(corpus.text == story_corpus(7, 20000).text);
  CHECK(corpus.text != story_corpus(8, 20000).text);
  CHECK_THROWS_WITH_AS(story_corpus(1, 0), "stories: a corpus must have at least one byte", ShapeError);
}

TEST_CASE("a text that leaves the grammar is refused at the byte where it does") {
  const auto check = [](const std::string& text, std::size_t byte) {
    const std::string what =
        "stories: the text leaves the story grammar at byte " + std::to_string(byte) + "; it must be whole stories";
    CHECK_THROWS_WITH_AS(story_nats(text), what.c_str(), ShapeError);
  };
  const std::string first = story_corpus(7, 1).text, text = story_corpus(7, 3000).text;
  CHECK(story_nats("") == 0);
  check("Call me Ishmael.", 0);
  check(first + "Once an", first.size() + 6);
  check(first.substr(0, first.size() - 1), first.size() - 1);
  for (std::size_t at = 0; at < first.size(); ++at) {
    std::string changed = text;
    changed[at] = '#';
    check(changed, at);
  }
}

TEST_CASE("who is named first acts last, and what is lost is found where the friend said") {
  const std::string text =
      "Far away, by the lake, lived Tom, a shy and calm child. Tom had a red kite from a merry king. "
      "One rainy day, Tom lost the kite at the big mill. "
      "A big nut sat by the wet log, but he did not stop. He crept by the wet log, where a big nut met a shy cat. "
      "Soon Pip the shy fox came by, singing. "
      "\"My red kite is gone!\" said Tom. \"I saw it by the wet log,\" said Pip. "
      "And there, by the wet log, was the red kite! Tom and Pip sang and sang until bedtime.\n\n";
  CHECK(story_nats(text) > 0);
  const auto with = [&](std::string_view right, std::string_view wrong) {
    std::string changed = text;
    return changed.replace(text.rfind(right), right.size(), wrong);
  };
  CHECK_THROWS_AS(story_nats(with("Tom and", "Ben and")), ShapeError);
  CHECK_THROWS_AS(story_nats(with("by the wet log", "by the big log")), ShapeError);
  CHECK_THROWS_AS(story_nats(with("red kite!", "red ball!")), ShapeError);
  CHECK_THROWS_AS(story_nats(with("He crept", "She crept")), ShapeError);
}
