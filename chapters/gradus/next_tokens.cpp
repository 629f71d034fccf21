#include "chapters/gradus/next_tokens.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "autograd/error.h"
#include "nn/text/utf8.h"

namespace gradus::tool {

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
    const std::string text = '"' + nn::escaped(tokenizer.decode(std::span(&id, 1))) + '"';
    table += message("{:7}  {} {:11.6f}  {}\n", id, padded(text, 16), p, bar(p / probabilities[ids[0]]));
  }
  return table;
}

}  // namespace gradus::tool
