// The default corpus: short tales drawn from a grammar, endless and with a known floor.
//
// Every choice of the grammar is uniform over a list, so the probability of a text is a product that can be written
// down, and −ln P is the least loss, in nats, that any model can reach on it on average. Names and things come back:
// who acts at the end was named at the start, so a model that looks further back has a lower loss.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "autograd/random.h"

namespace gradus::optim {

struct Story {
  std::string text;  // ASCII; ends with a blank line
  double nats;       // −ln P(text)
};
Story tell_story(Rng& rng);

struct StoryCorpus {
  std::string text;
  double nats_per_byte;
};
// Whole stories until there are enough bytes. The same seed gives the same text on every machine.
StoryCorpus story_corpus(std::uint64_t seed, std::size_t at_least_bytes);

// −ln P of a text of whole stories: the floor under a model's loss on it, times its bytes.
// Errors: the text is no such text; the message has the offset of the byte at which it stops being one.
double story_nats(std::string_view stories);

// The mean of tell_story().nats over all stories.
double expected_story_nats();

}  // namespace gradus::optim
