// Chapter 5: a text becomes numbers, and each number a row of a matrix.
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "autograd/ops/binary.h"
#include "autograd/ops/reduce.h"
#include "autograd/random.h"
#include "nn/embedding.h"
#include "nn/text/bpe_trainer.h"
#include "nn/text/byte_tokenizer.h"
#include "nn/text/utf8.h"

using namespace gradus;
using namespace gradus::nn;

// The tokens of a text, a bar between each two.
static std::string cut(const Tokenizer& tokenizer, std::string_view text) {
  std::string out;
  for (const int id : tokenizer.encode(text)) {
    const std::string shown = escaped(tokenizer.decode(std::span(&id, 1)));
    out += (out.empty() ? "" : "|") + shown;
  }
  return out;
}

static void bytes() {
  std::printf("1. A text is bytes\n\n");
  const ByteTokenizer tokenizer;
  for (const char* text : {"cat", "é", "猫", "🐈"}) {
    std::printf("  %s\t", text);
    for (const int id : tokenizer.encode(text)) std::printf(" %3d", id);
    std::printf("\n");
  }
}

static void merges() {
  const std::string_view text = "the cat sat on the mat, the rat sat on the cat";
  const BpeTokenizer tokenizer = train_bpe(std::span(&text, 1), {.vocab_size = 264});
  std::printf("\n2. Eight merges\n\n");
  for (std::size_t i = 0; i < tokenizer.model().merges.size(); ++i) {
    const auto [left, right] = tokenizer.model().merges[i];
    const int id = 256 + static_cast<int>(i);
    std::printf("  %3d = %3d + %3d  \"%s\"\n", id, left, right, tokenizer.decode(std::span(&id, 1)).c_str());
  }
  std::printf("\n  %s\n  %s\n", cut(tokenizer, "the rat on the mat").c_str(), cut(tokenizer, "those hats").c_str());
}

static std::string sentences(std::size_t count, Rng& rng) {
  static constexpr const char* who[] = {"cat", "dog", "hen", "fox", "owl", "cow"};
  static constexpr const char* did[] = {"saw", "heard", "followed", "found", "forgot"};
  const auto one = [&](const auto& list) { return list[rng.below(std::size(list))]; };
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += std::string("the ") + one(who) + " " + one(did) + " the " + one(who) + ".\n";
  return text;
}

static void sizes() {
  Rng rng(5);
  const std::string learnt = sentences(400, rng), fresh = sentences(100, rng);
  const std::string_view text = learnt;
  std::printf("\n3. Larger vocabularies, shorter texts\n\n  %-10s %-15s\n", "vocabulary", "bytes a token");
  for (const std::size_t size : {256, 264, 272, 280, 300}) {
    const BpeTokenizer tokenizer = train_bpe(std::span(&text, 1), {.vocab_size = size});
    std::printf("  %-10zu %-6.2f %s\n", tokenizer.vocab_size(),
                static_cast<double>(fresh.size()) / static_cast<double>(tokenizer.encode(fresh).size()),
                cut(tokenizer, " the fox forgot the hen.").c_str());
  }
}

static bool round_trips() {
  const std::string_view text = "aaaa";
  const BpeTokenizer tokenizer =
      train_bpe(std::span(&text, 1), {.vocab_size = 259, .specials = {"<|endoftext|>"}});
  std::printf("\n4. There and back\n\n");
  bool exact = true;
  for (const std::string& each : {std::string("  two blanks\t\r\n"), std::string("\0 and \xFF", 7), std::string("<|endoftext|>")})
    exact &= tokenizer.decode(tokenizer.encode(each)) == each;
  std::printf("  text, ids, text: %s\n", exact ? "the same" : "ANOTHER TEXT");
  const std::vector<int> apart = {97, 97}, together = tokenizer.encode(tokenizer.decode(apart));
  std::printf("  ids, text, ids:  97 97 become %d\n", together[0]);
  const std::size_t as_text = tokenizer.encode("<|endoftext|>").size();
  const std::size_t allowed = tokenizer.encode("<|endoftext|>", Specials::allowed).size();
  std::printf("  \"<|endoftext|>\": %zu tokens as text, %zu as what it spells\n", as_text, allowed);
  return exact && together.size() == 1 && allowed == 1;
}

static bool rows() {
  Embedding embedding(4, 2);
  std::ranges::copy(std::vector<Real>{0, 1, 10, 11, 20, 21, 30, 31}, embedding.weight.mutable_values().begin());
  const std::vector<int> ids = {1, 1, 3, 1};
  const Tensor x = embedding(ids), cotangent({4, 2}, {1, 2, 10, 20, 100, 200, 1000, 2000});
  sum(x * cotangent).backward();
  std::printf("\n5. A row for each token, and what comes back to it\n\n  id  row      gradient\n");
  for (std::size_t id = 0; id < 4; ++id) {
    const std::span<const Real> row = embedding.weight.values().subspan(2 * id, 2), d = embedding.weight.grad().subspan(2 * id, 2);
    std::printf("  %zu   %2g %2g    %4g %4g\n", id, static_cast<double>(row[0]), static_cast<double>(row[1]),
                static_cast<double>(d[0]), static_cast<double>(d[1]));
  }
  return embedding.weight.grad()[2] == 1011 && embedding.weight.grad()[0] == 0;
}

int main() {
  bytes();
  merges();
  sizes();
  return round_trips() && rows() ? 0 : 1;
}
