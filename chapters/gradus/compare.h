// gradus compare: whether two models say the same, to the last logit.
#pragma once

#include <cstddef>
#include <string>

namespace gradus::tool {

struct CompareOptions {
  std::string a, b;
  std::string text;       // a file; empty: random tokens
  std::string tokenizer;  // of the text; empty: the one beside either model
  std::size_t tokens = 512;
  bool positions = false;  // a line for each
};

void compare(const CompareOptions& options);

}  // namespace gradus::tool
