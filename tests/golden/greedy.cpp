// Texts continued with the most likely token each time, and with the most likely of several at once.
#include <cmath>

#include "autograd/graph.h"
#include "autograd/ops/slice.h"
#include "autograd/ops/softmax.h"
#include "nn/text/generate.h"
#include "tests/golden/loaded.h"

namespace gradus::golden {

// Two logits nearer than this may come out in the other order, and any continuation after that is another text.
static const double too_close = 4 * model.now();

// The logits of the token after `text`, of which the last context_length tokens are read.
static std::vector<double> next_logits(const nn::Decoder& decoder, std::span<const int> text) {
  const NoGrad guard;
  const std::span<const int> window = text.last(std::min(text.size(), decoder.config.context_length));
  const Tensor h = decoder.hidden(window, 1);
  return as_doubles(decoder.logits(slice(h, 1, window.size() - 1, window.size())).values());
}

// The best logit less the second best, before each token of the continuation.
static std::vector<double> margins(const nn::Decoder& decoder, std::span<const int> prompt,
                                   std::span<const int> continuation) {
  std::vector<int> text(prompt.begin(), prompt.end());
  std::vector<double> list;
  for (int id : continuation) {
    std::vector<double> logits = next_logits(decoder, text);
    std::ranges::sort(logits, std::greater<>());
    list.push_back(logits[0] - logits[1]);
    text.push_back(id);
  }
  return list;
}

// Compares each row of `name` with what generate() writes after the same row of the prompt, zeros behind its end.
static void compare_generated(File& file, const nn::Decoder& decoder, const std::string& prompt,
                              const std::string& name, std::size_t tokens, std::optional<int> end_token = {}) {
  const Batch prompts = batch_of(file, prompt), theirs = batch_of(file, name);
  file.count_case();
  std::size_t longest = 0;
  bool doubtful = false;
  std::vector<double> ours;
  for (std::size_t b = 0; b < prompts.rows; ++b) {
    Rng rng(1);
    std::vector<int> row = nn::generate(decoder, prompts.row(b),
                                        {.tokens = tokens, .sampler = {.temperature = 0}, .end_token = end_token}, rng);
    for (double margin : margins(decoder, prompts.row(b), row)) doubtful |= margin < too_close;
    longest = std::max(longest, row.size());
    row.resize(theirs.time);
    ours.insert(ours.end(), row.begin(), row.end());
  }
  if (doubtful) return file.by_rule(name);
  file.require(longest == theirs.time, message("{} has {} tokens, ours {}", name, theirs.time, longest));
  file.compare(name, ours, exact);
}

// The best continuation by the sum of its log-probabilities, keeping `width` of them after every token. It ends with
// end_token if the best one does.
static std::vector<int> beam_search(const nn::Decoder& decoder, std::span<const int> prompt, std::size_t width,
                                    std::size_t tokens, std::optional<int> end_token, bool& doubtful) {
  struct Beam {
    std::vector<int> text;
    double score;
  };
  std::vector<Beam> beams = {{{prompt.begin(), prompt.end()}, 0}};
  for (std::size_t n = 0; n < tokens; ++n) {
    std::vector<Beam> longer;
    for (const Beam& beam : beams) {
      const std::vector<double> p = nn::softmax_row(next_logits(decoder, beam.text));
      for (std::size_t id = 0; id < p.size(); ++id) {
        longer.push_back({beam.text, beam.score + std::log(p[id])});
        longer.back().text.push_back(static_cast<int>(id));
      }
    }
    std::ranges::sort(longer, std::greater<>(), &Beam::score);
    const auto gap = [&](std::size_t i) { return longer[i].score - longer[i + 1].score; };
    doubtful |= gap(0) < too_close || gap(width - 1) < too_close;
    longer.resize(width);
    beams = longer;
    if (end_token && beams[0].text.back() == *end_token) break;
  }
  return {beams[0].text.begin() + static_cast<std::ptrdiff_t>(prompt.size()), beams[0].text.end()};
}

static void compare_beams(File& file, const nn::Decoder& decoder, const std::string& name, std::size_t row,
                          std::size_t width, std::optional<int> end_token) {
  if (!file.has(name)) return;
  file.count_case();
  bool doubtful = false;
  const Batch prompts = batch_of(file, "hk/prompt");
  const std::size_t tokens = file.shape(name).back();
  const std::vector<int> ours = beam_search(decoder, prompts.row(row), width, tokens, end_token, doubtful);
  if (doubtful) return file.by_rule(name);
  file.compare(name, std::vector<double>(ours.begin(), ours.end()), exact);
}

static void compare_margins(File& file, const nn::Decoder& decoder, const std::string& family) {
  const Batch prompts = batch_of(file, family + "prompt"), generated = batch_of(file, family + "generated");
  std::vector<double> ours;
  for (std::size_t b = 0; b < prompts.rows; ++b)
    for (double margin : margins(decoder, prompts.row(b), generated.row(b))) ours.push_back(margin);
  file.compare(family + "margin", ours, model);
}

static void read(File& file) {
  const std::size_t tokens = file.json("new_tokens");
  nn::Decoder minimind(minimind_config(file.json("config_mm")));
  load(minimind, file, minimind_place, "mm/weight.");
  compare_margins(file, minimind, "mm/");
  compare_generated(file, minimind, "mm/prompt", "mm/generated", tokens);

  nn::Decoder happy(happy_config(file.json("config_hk"), 1e4));
  load(happy, file, happy_place, "hk/weight.");
  compare_margins(file, happy, "hk/");
  compare_generated(file, happy, "hk/prompt", "hk/generated", tokens);
  const int stop = file.ids("hk/stop_id").front();
  compare_generated(file, happy, "hk/prompt", "hk/generated_with_stop", tokens, stop);
  for (const std::string length : {"hk/long_", "hk/short_"})
    compare_generated(file, happy, length + "prompt", length + "generated", file.shape(length + "generated").back());
  compare_beams(file, happy, "hk/super_greedy", 0, 1, {});
  compare_beams(file, happy, "hk/beam3", 0, 3, {});
  compare_beams(file, happy, "hk/beam2", 1, 2, {});
}

static const Kind greedy("sampling.greedy", read);

}  // namespace gradus::golden
