// The words that stand for a choice in files and on the command line.
#pragma once

#include <string>
#include <string_view>

#include "autograd/error.h"

namespace gradus::nn {

template <class Choice>
struct Word {
  Choice choice;
  std::string_view word;
};
template <class Choice>
Word(Choice, const char*) -> Word<Choice>;  // which clang before version 17 does not find by itself

template <class Choice>
std::string_view word_in(const auto& table, Choice choice) {
  for (const Word<Choice>& entry : table)
    if (entry.choice == choice) return entry.word;
  return "";
}

// Errors: no such word, listing those there are; `what` says what is chosen.
template <class Choice>
void choose(std::string_view what, const auto& table, std::string_view word, Choice& choice) {
  std::string known;
  std::size_t left = table.size();
  for (const Word<Choice>& entry : table) {
    if (entry.word == word) {
      choice = entry.choice;
      return;
    }
    known.append(known.empty() ? "" : left == 1 ? " or " : ", ").append(entry.word);
    --left;
  }
  throw ShapeError(message("{} is {}, not {}", what, known, word));
}

}  // namespace gradus::nn
