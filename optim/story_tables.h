// What the stories are made of. More words, sentences and plots go in here; no program needs to change.
//
// A story is an option of the table "story". Options are patterns: text with [choices] and {memories}.
//   [place]        one of the options of the table "place", all equally likely
//   [where=place]  the same, and remembered as "where" until the story ends
//   {where}        what was remembered
//   {hero.she}     another form of it: "Mia/She/she/her/her" is a name and its "She", "she", "her" and "him"
// A word of "trait", "odd", "taste", "colour", "faint" or "weather" may follow "a", so it begins with a consonant.
//
// No text has two derivations, because of one rule: read the options of a table up to their first choice, and none
// begins with the whole of another. ("ball" and "balloon" could not both be things, nor could two options begin with
// a choice.) So at every choice the text itself tells which option was taken.
#pragma once

#include <map>
#include <string_view>
#include <vector>

namespace gradus::optim {

using StoryOptions = std::vector<std::string_view>;
using StoryTables = std::map<std::string_view, StoryOptions>;

const StoryTables& story_tables();

}  // namespace gradus::optim
