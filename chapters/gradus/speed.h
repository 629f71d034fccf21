// How fast a text was written: reading the prompt, until the first token, and each token after it.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "autograd/error.h"

namespace gradus::tool {

class Speed {
 public:
  void token() {
    last_ = seconds();
    if (tokens_++ == 0) first_ = last_;
  }
  // For a prompt of so many tokens that were read.
  std::string line(std::size_t prompt) const {
    if (tokens_ == 0) return message("prompt {} tokens; new 0 tokens", prompt);
    const std::string rate =
        tokens_ > 1 ? message(", {:.0f} tokens/s", static_cast<double>(tokens_ - 1) / (last_ - first_)) : "";
    return message("prompt {} tokens, {:.0f} tokens/s; first token after {:.1f} ms; new {} tokens{}", prompt,
                   static_cast<double>(prompt) / first_, 1000 * first_, tokens_, rate);
  }

 private:
  using Clock = std::chrono::steady_clock;
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  Clock::time_point start_ = Clock::now();
  double first_ = 0, last_ = 0;
  std::size_t tokens_ = 0;
};

}  // namespace gradus::tool
