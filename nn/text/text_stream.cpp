#include "nn/text/text_stream.h"

#include <algorithm>
#include <utility>

#include "autograd/error.h"

namespace gradus::nn {

TextStream::TextStream(const Tokenizer& tokenizer, std::span<const int> prompt, std::vector<std::string> stops)
    : tokenizer_(tokenizer), stops_(std::move(stops)) {
  if (!prompt.empty()) before_ = prompt.back();
  for (const std::string& stop : stops_) expect(!stop.empty(), "text_stream: a stop string is empty; it is everywhere");
}

// What the token adds to the text of the one before it.
std::string TextStream::text_of(int id) {
  std::vector<int> ids;
  if (before_) ids.push_back(*before_);
  const std::size_t known = tokenizer_.decode(ids).size();
  ids.push_back(id);
  before_ = id;
  return tokenizer_.decode(ids).substr(known);
}

// The longest end of the text that a stop string begins with, and does not end with.
static std::size_t possible_beginning(std::string_view text, const std::vector<std::string>& stops) {
  std::size_t longest = 0;
  for (const std::string& stop : stops)
    for (std::size_t length = std::min(text.size(), stop.size() - 1); length > longest; --length)
      if (text.ends_with(std::string_view(stop).substr(0, length))) longest = length;
  return longest;
}

std::string TextStream::until_stop(std::string_view text) {
  for (const char byte : text) {
    waiting_ += byte;
    std::size_t found = 0;
    for (const std::string& stop : stops_)
      if (waiting_.ends_with(stop)) found = std::max(found, stop.size());
    if (found == 0) continue;
    stopped_ = true;
    waiting_.resize(waiting_.size() - found);
    return std::exchange(waiting_, {});
  }
  const std::size_t ready = waiting_.size() - possible_beginning(waiting_, stops_);
  std::string out = waiting_.substr(0, ready);
  waiting_.erase(0, ready);
  return out;
}

std::string TextStream::push(int id) { return stopped_ ? "" : characters_.push(until_stop(text_of(id))); }

std::string TextStream::flush() {
  std::string out = characters_.push(std::exchange(waiting_, {}));
  return out + characters_.flush();
}

}  // namespace gradus::nn
