#include "chapters/gradus/next_tokens.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "autograd/error.h"
#include "nn/text/utf8.h"

namespace gradus::tool {

static std::string escaped_byte(char byte) {
  if (byte == '\n') return "\\n";
  if (byte == '\r') return "\\r";
  if (byte == '\t') return "\\t";
  return message("\\x{:02X}", static_cast<unsigned>(static_cast<unsigned char>(byte)));
}

std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const nn::FirstCharacter first = nn::first_character(text);
    const bool control = first.code < 0x20 || (first.code >= 0x7F && first.code < 0xA0);
    for (const char byte : text.substr(0, first.length))
      out += first.state != nn::Utf8::whole || control ? escaped_byte(byte)
             : byte == '\\' || byte == '"'             ? std::string{'\\', byte}
                                                       : std::string{byte};
    text.remove_prefix(first.length);
  }
  return out;
}

// Characters, not bytes; wide ones count as one.
static std::string padded(std::string text, std::size_t width) {
  const auto continues = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; };
  const std::size_t characters = text.size() - static_cast<std::size_t>(std::ranges::count_if(text, continues));
  text.append(width > characters ? width - characters : 0, ' ');
  return text;
}

static std::string bar(double share) {
  constexpr double columns = 40;
  std::string out;
  for (long i = std::lround(share * columns); i > 0; --i) out += "█";
  return out;
}

std::string next_token_table(std::span<const double> probabilities, std::size_t count, const nn::Tokenizer& tokenizer) {
  std::vector<int> ids(probabilities.size());
  std::iota(ids.begin(), ids.end(), 0);
  std::ranges::stable_sort(ids, std::greater(), [&](int id) { return probabilities[id]; });
  ids.resize(std::min(count, ids.size()));
  std::string table = message("{:>7}  {} {:>11}\n", "id", padded("text", 16), "probability");
  for (int id : ids) {
    const double p = probabilities[id];
    if (p == 0) break;
    const std::string text = '"' + escaped(tokenizer.decode(std::span(&id, 1))) + '"';
    table += message("{:7}  {} {:11.6f}  {}\n", id, padded(text, 16), p, bar(p / probabilities[ids[0]]));
  }
  return table;
}

}  // namespace gradus::tool
