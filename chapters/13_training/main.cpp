// Chapter 13: the loop that trains, and why its numbers can be believed.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "autograd/parallel.h"
#include "nn/text/byte_tokenizer.h"
#include "optim/checkpoint.h"
#include "optim/story_grammar.h"
#include "optim/trainer.h"
#include "optim/windows.h"

using namespace gradus;
using namespace gradus::optim;
namespace fs = std::filesystem;

static constexpr std::size_t T = 32;

static nn::Decoder fresh_decoder() {
  nn::Decoder decoder({.width = 48, .n_layers = 2, .n_heads = 4, .n_kv_heads = 2, .context_length = T});
  Rng rng(13);
  nn::initialise(decoder, rng);
  return decoder;
}

static Windows stories() { return {nn::ByteTokenizer().encode(story_corpus(13, 200'000).text), T, 0.1, 13}; }

static void a_window() {
  Windows data(nn::ByteTokenizer().encode("to be or not to be"), 8, 0, 1);
  const Batch batch = data.training(1);
  const auto text = [](const std::vector<int>& ids) { return nn::ByteTokenizer().decode(ids); };
  std::printf("1. A window: eight questions and their answers\n\n  inputs  \"%s\"\n  targets \"%s\"\n", text(batch.inputs).c_str(),
              text(batch.targets).c_str());
}

static double largest_difference(const nn::Decoder& a, const nn::Decoder& b) {
  double largest = 0;
  const std::vector<nn::Parameter> left = nn::parameters(a), right = nn::parameters(b);
  for (std::size_t i = 0; i < left.size(); ++i)
    for (std::size_t k = 0; k < left[i].tensor.size(); ++k)
      largest = std::max(largest, std::abs(static_cast<double>(left[i].tensor.values()[k] - right[i].tensor.values()[k])));
  return largest;
}

static bool accumulation() {
  std::printf("\n2. Eight windows in one step\n\n  batches  loss      weights differ by at most\n");
  nn::Decoder whole = fresh_decoder();
  bool same = true;
  for (const std::size_t batches : {1, 2, 4, 8}) {
    nn::Decoder decoder = fresh_decoder();
    Windows data = stories();
    Trainer trainer(decoder, data, {.batch = 8 / batches, .accumulate = batches, .rate = 1e-3});
    trainer.step();
    if (batches == 1) whole = decoder;
    const double apart = largest_difference(whole, decoder);
    std::printf("  %zu × %zu    %.6f  %.0e\n", batches, 8 / batches, trainer.metrics().loss, apart);
    same &= apart < 1e-5;
  }
  return same;
}

static bool learning() {
  std::printf("\n3. Stories, and noise\n\n  step   stories: loss  on new ones   noise: loss  on new noise\n");
  nn::Decoder reader = fresh_decoder(), guesser = fresh_decoder();
  Rng rng(14);
  std::vector<int> noise(4000);
  for (int& byte : noise) byte = static_cast<int>(rng.below(256));
  Windows texts = stories(), bytes(noise, T, 0.25, 13);
  const TrainerOptions options{.steps = 600, .batch = 8, .eval_every = 150, .rate = 5e-3, .weight_decay = 0.01};
  Trainer learns(reader, texts, options), believes(guesser, bytes, options);
  while (!learns.finished()) {
    learns.step();
    believes.step();
    const Metrics& a = learns.metrics();
    const Metrics& b = believes.metrics();
    if (a.validation_loss)
      std::printf("  %-6zu          %.3f         %.3f         %.3f          %.3f\n", static_cast<std::size_t>(a.step), a.loss,
                  *a.validation_loss, b.loss, *b.validation_loss);
  }
  std::printf("  floor           %.3f         %.3f                        %.3f\n", story_corpus(13, 200'000).nats_per_byte,
              story_corpus(13, 200'000).nats_per_byte, std::log(256.0));
  return *learns.metrics().validation_loss < 2 && *believes.metrics().validation_loss > std::log(256.0) - 0.05;
}

// Twenty steps, with a checkpoint after ten, from which another program goes on.
static bool resuming(const fs::path& folder) {
  std::printf("\n4. Twenty steps, and ten and ten\n\n");
  const nn::ByteTokenizer tokenizer;
  nn::Decoder decoder = fresh_decoder();
  Windows data = stories();
  const DataSource source{"stories", {}, "", fingerprint_of(data)};
  Trainer straight(decoder, data, {.steps = 20, .batch = 4});
  while (straight.state().step < 10) straight.step();
  save_checkpoint(folder / "ten", straight, tokenizer, source);
  while (!straight.finished()) straight.step();

  bool same = false;
  for (const bool exact : {true, false}) {
    nn::Model model = nn::load_model(folder / "ten");
    Windows again = stories();
    const SavedRun run = read_run(folder / "ten");
    Trainer resumed(model.decoder, again, run.options);
    if (exact) restore(resumed, folder / "ten", run);
    while (resumed.state().step < (exact ? 20 : 10)) resumed.step();
    const double apart = largest_difference(decoder, model.decoder);
    std::printf("  %-34s weights differ by at most %.0e\n", exact ? "everything restored" : "the weights alone", apart);
    if (exact) same = apart == 0;
  }
  return same;
}

int main() {
  set_thread_count(1);  // so small a model is fastest on one
  a_window();
  const bool sums = accumulation(), learns = learning();
  const fs::path folder = fs::temp_directory_path() / ("gradus_chapter_13_" + std::to_string(getpid()));
  const bool resumes = resuming(folder);
  fs::remove_all(folder);
  return sums && learns && resumes ? 0 : 1;
}
