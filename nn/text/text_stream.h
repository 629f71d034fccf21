// Tokens come in as they are drawn, text goes out as soon as it can be shown.
//
// Three things can be in the way: half a character, the beginning of what may become a stop string, and tokens whose
// text depends on the token before. What goes out, one piece behind the other, is exactly the text that the tokens
// decode to, or the part of it before the stop string.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nn/text/tokenizer.h"
#include "nn/text/utf8.h"

namespace gradus::nn {

class TextStream {
 public:
  // The tokens will stand behind those of `prompt`, whose text is not repeated. The text ends before the first of
  // `stops` to be complete, the longest one where several are; where tokens end does not matter.
  // Errors: an empty stop string. The tokenizer must outlive the stream.
  explicit TextStream(const Tokenizer& tokenizer, std::span<const int> prompt = {},
                      std::vector<std::string> stops = {});

  std::string push(int id);  // what can be shown now; nothing any more once stopped
  std::string flush();       // what still waits, at the end of the text
  bool stopped() const { return stopped_; }

 private:
  std::string text_of(int id);
  std::string until_stop(std::string_view text);

  const Tokenizer& tokenizer_;
  std::optional<int> before_;  // the token before the next one
  std::vector<std::string> stops_;
  std::string waiting_;  // may be the beginning of a stop string
  Utf8Stream characters_;
  bool stopped_ = false;
};

}  // namespace gradus::nn
