#include "optim/story_grammar.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "autograd/error.h"
#include "optim/story_tables.h"

namespace gradus::optim {

namespace {

struct Telling {
  std::string text;
  double nats = 0;
  std::map<std::string_view, std::string> remembered;
};

// Which option comes next, after what is told so far.
using Choose = std::function<std::size_t(const Telling&, const StoryOptions&)>;

struct Choice {
  std::string_view memory;  // empty: nothing is remembered
  const StoryOptions& options;
};

}  // namespace

static std::string_view first_form(std::string_view option) { return option.substr(0, option.find('/')); }

static std::string_view recall(const Telling& telling, std::string_view memory) {
  const std::size_t dot = memory.find('.');
  const auto found = telling.remembered.find(memory.substr(0, dot));
  expect(found != telling.remembered.end(), "stories: {{{}}} is used before anything is remembered as that", memory);
  std::string_view word = found->second;
  if (dot == memory.npos) return first_form(word);
  for (std::string_view form : {"She", "she", "her", "him"}) {
    word.remove_prefix(word.find('/') + 1);
    if (form == memory.substr(dot + 1)) break;
  }
  return first_form(word);
}

// What a pattern says before its next choice; that much of it is taken away.
static std::string say_up_to_choice(const Telling& telling, std::string_view& pattern) {
  std::string said;
  while (!pattern.empty() && pattern[0] != '[') {
    const std::size_t fixed = std::min(pattern.find_first_of("[{"), pattern.size());
    said += pattern.substr(0, fixed);
    pattern.remove_prefix(fixed);
    if (!pattern.starts_with('{')) continue;
    const std::size_t close = pattern.find('}');
    said += recall(telling, pattern.substr(1, close - 1));
    pattern.remove_prefix(close + 1);
  }
  return said;
}

// The choice that a pattern begins with; it is taken away.
static Choice take_choice(std::string_view& pattern) {
  const std::size_t close = pattern.find(']');
  const std::string_view slot = pattern.substr(1, close - 1);
  pattern.remove_prefix(close + 1);
  const std::size_t equals = slot.find('=');
  const std::string_view memory = equals == slot.npos ? "" : slot.substr(0, equals);
  const std::string_view table = equals == slot.npos ? slot : slot.substr(equals + 1);
  const auto found = story_tables().find(table);
  expect(found != story_tables().end() && !found->second.empty(), "stories: [{}] needs a table \"{}\"", slot, table);
  return {memory, found->second};
}

// Tells a pattern from left to right, asking `choose` at every choice.
static void tell(std::string_view pattern, Telling& telling, const Choose& choose) {
  for (;;) {
    telling.text += say_up_to_choice(telling, pattern);
    if (pattern.empty()) return;
    const auto [memory, options] = take_choice(pattern);
    const std::string_view option = options[choose(telling, options)];
    telling.nats += std::log(static_cast<double>(options.size()));
    const std::string_view name = first_form(option), other_forms = option.substr(name.size());
    const std::size_t begin = telling.text.size();
    tell(name, telling, choose);
    if (!memory.empty()) telling.remembered[memory] = telling.text.substr(begin).append(other_forms);
  }
}

Story tell_story(Rng& rng) {
  Telling telling;
  tell("[story]", telling, [&rng](const Telling&, const StoryOptions& options) { return rng.below(options.size()); });
  return {telling.text, telling.nats};
}

StoryCorpus story_corpus(std::uint64_t seed, std::size_t at_least_bytes) {
  expect(at_least_bytes > 0, "stories: a corpus must have at least one byte");
  Rng rng(seed);
  std::string text;
  double nats = 0;
  while (text.size() < at_least_bytes) {
    const Story story = tell_story(rng);
    text += story.text;
    nats += story.nats;
  }
  return {text, nats / static_cast<double>(text.size())};
}

// Reading is telling with the text to choose: of the options, the one is taken that goes on as the text does.
static Telling retell_first_story(std::string_view stories, std::size_t offset) {
  const std::string_view text = stories.substr(offset);
  const auto leaves_at = [&](std::string_view told) {
    return offset + (std::mismatch(told.begin(), told.end(), text.begin(), text.end()).second - text.begin());
  };
  static constexpr std::string_view rule =
      "stories: the text leaves the story grammar at byte {}; it must be whole stories";

  Telling telling;
  tell("[story]", telling, [&](const Telling& so_far, const StoryOptions& options) {
    std::size_t fitting = 0, chosen = 0, furthest = 0;
    for (std::size_t i = 0; i < options.size(); ++i) {
      std::string_view pattern = first_form(options[i]);
      const std::string told = so_far.text + say_up_to_choice(so_far, pattern);
      furthest = std::max<std::size_t>(furthest, leaves_at(told));
      if (text.starts_with(told)) chosen = i, ++fitting;
    }
    expect(fitting > 0, rule, furthest);
    expect(fitting == 1,
           "stories: {} options fit at byte {}, so the grammar is ambiguous; no option of a table may "
           "begin with another",
           fitting, offset + so_far.text.size());
    return chosen;
  });
  expect(text.starts_with(telling.text), rule, leaves_at(telling.text));
  return telling;
}

double story_nats(std::string_view stories) {
  double nats = 0;
  for (std::size_t offset = 0; offset < stories.size();) {
    const Telling story = retell_first_story(stories, offset);
    nats += story.nats;
    offset += story.text.size();
  }
  return nats;
}

// The entropy of a choice among n: that of the pick, ln n, and the mean of what each option goes on to choose.
static double expected_nats(std::string_view pattern) {
  double nats = 0;
  for (std::size_t open; (open = pattern.find('[')) != pattern.npos;) {
    pattern.remove_prefix(open);
    const StoryOptions& options = take_choice(pattern).options;
    const double n = static_cast<double>(options.size());
    nats += std::log(n);
    for (std::string_view option : options) nats += expected_nats(option) / n;
  }
  return nats;
}

double expected_story_nats() { return expected_nats("[story]"); }

}  // namespace gradus::optim
