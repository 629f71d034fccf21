#include "chapters/gradus/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <span>
#include <vector>

#include "autograd/error.h"
#include "autograd/graph.h"
#include "autograd/random.h"
#include "nn/any_model.h"
#include "nn/text/text_file.h"

namespace gradus::tool {

static void print(const std::string& line) { std::printf("%s\n", line.c_str()); }

static std::unique_ptr<nn::Tokenizer> tokenizer_of(const CompareOptions& options) {
  try {
    return nn::load_any_tokenizer(options.a, options.tokenizer);
  } catch (const FileError&) {
    if (!options.tokenizer.empty()) throw;
    return nn::load_any_tokenizer(options.b);
  }
}

static std::vector<int> tokens_of(const CompareOptions& options, std::size_t vocab_size) {
  std::vector<int> ids;
  if (options.text.empty()) {
    Rng rng(1);
    while (ids.size() < options.tokens) ids.push_back(static_cast<int>(rng.below(vocab_size)));
  } else {
    ids = tokenizer_of(options)->encode(nn::read_text_file(options.text, "a text"));
    expect<FileError>(!ids.empty(), "{}: expected a text, found nothing", options.text);
    ids.resize(std::min(ids.size(), options.tokens));
  }
  return ids;
}

namespace {

struct Parity {
  double worst = 0;
  std::size_t where = 0;
  std::size_t same = 0;  // positions at which both find the same token likeliest
};

}  // namespace

// A difference that is no number is larger than any.
static double larger(double a, double b) {
  return std::isnan(b) ? std::numeric_limits<double>::infinity() : std::max(a, b);
}

// One window of the text, whose first token is the text's number `first`.
static void compare_window(const nn::LanguageModel& a, const nn::LanguageModel& b, std::span<const int> ids, std::size_t first,
                           bool each, Parity& parity) {
  const Tensor x = a.logits(a.hidden(ids, 1, {})), y = b.logits(b.hidden(ids, 1, {}));
  const std::size_t V = x.shape().back();
  for (std::size_t t = 0; t < ids.size(); ++t) {
    const std::span<const Real> p = x.values().subspan(t * V, V), q = y.values().subspan(t * V, V);
    double worst = 0;
    for (std::size_t i = 0; i < V; ++i) {
      worst = larger(worst, std::abs(static_cast<double>(p[i]) - static_cast<double>(q[i])));
    }
    const bool same = std::ranges::max_element(p) - p.begin() == std::ranges::max_element(q) - q.begin();
    parity.same += same;
    if (larger(parity.worst, worst) != parity.worst) parity = {worst, first + t, parity.same};
    if (each)
      print(message("{:>8} {:>8} {:>12.3e}{}", first + t, ids[t], worst, same ? "" : "   another token is likeliest"));
  }
}

void compare(const CompareOptions& options) {
  const nn::LanguageModel a = nn::load_language_model(options.a), b = nn::load_language_model(options.b);
  expect<FileError>(a.vocab_size == b.vocab_size, "compare: {} has {} tokens and {} has {}; their logits cannot "
                    "be compared", options.a, a.vocab_size, options.b, b.vocab_size);
  const std::vector<int> ids = tokens_of(options, a.vocab_size);

  const NoGrad guard;
  const std::size_t window = std::min(a.context_length, b.context_length);
  Parity parity;
  if (options.positions) print("position    token   difference");
  for (std::size_t begin = 0; begin < ids.size(); begin += window) {
    const auto part = std::span(ids).subspan(begin, std::min(window, ids.size() - begin));
    compare_window(a, b, part, begin, options.positions, parity);
  }
  print(message("positions            {}, in windows of {}", ids.size(), std::min(window, ids.size())));
  print(message("largest difference   {:.3e} of a logit, at position {}", parity.worst, parity.where));
  print(message("same likeliest token {} of {}", parity.same, ids.size()));
}

}  // namespace gradus::tool
