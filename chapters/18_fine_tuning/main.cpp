// Chapter 18: a model that goes on with a text learns to answer, first with all its numbers, then with a tenth of them.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>

#include "autograd/parallel.h"
#include "nn/lora.h"
#include "nn/text/char_tokenizer.h"
#include "nn/text/chat_template.h"
#include "nn/text/generate.h"
#include "optim/audit.h"
#include "optim/clip.h"
#include "optim/rows.h"
#include "optim/trainer.h"
#include "optim/windows.h"

using namespace gradus;
using namespace gradus::nn;
using namespace gradus::optim;

static const std::string names[] = {"cat", "owl", "fox", "bee", "cow", "ant", "dog", "hen", "pig", "rat", "emu", "yak",
                                    "ape", "eel", "elk", "ewe", "gnu", "jay", "koi", "ram", "asp", "bat", "cod", "doe"};
static const std::string foods[8] = {"fish", "mice", "corn", "honey", "grass", "sugar", "flies", "roots"};
static const std::string homes[9] = {"house", "tree", "den", "hill", "barn", "lake", "pond", "cave", "wood"};
static const CharTokenizer tokenizer = CharTokenizer::of_text("abcdefghijklmnopqrstuvwxyz .?:\n");
static constexpr auto plain = ChatTemplate::plain;
static constexpr std::size_t T = 80, steps = 200;
static const int end = end_of_answer(plain, tokenizer);  // the line break

static std::string eats(std::size_t i) { return "the " + names[i] + " eats " + foods[i % 8] + "."; }
static std::string lives(std::size_t i) { return "the " + names[i] + " lives in a " + homes[i % 9] + "."; }

// What the model knows before it can answer: sentences, a line break now and then.
static Decoder pretrained() {
  Rng rng(18);
  std::string text;
  for (int pair = 0; pair < 2000; ++pair) {
    const std::size_t i = rng.below(std::size(names));
    text += rng.below(2) == 0 ? eats(i) + " " + lives(i) : lives(i) + " " + eats(i);
    text += rng.below(4) == 0 ? "\n" : " ";
  }
  const std::size_t V = tokenizer.vocab_size();
  Decoder decoder({.vocab_size = V, .width = 64, .n_layers = 2, .n_kv_heads = 2, .context_length = T});
  initialise(decoder, rng);
  Windows windows(tokenizer.encode(text), T, 0, 18);
  train(decoder, windows, {.steps = 1000, .batch = 8, .rate = 3e-3, .weight_decay = 0.01});
  return decoder;
}

// Two questions about each animal: three quarters of them to learn from, the others kept as new ones.
static std::vector<std::vector<Message>> conversations(bool kept) {
  std::vector<std::vector<Message>> list;
  for (std::size_t i = 0; i < std::size(names); ++i) {
    if ((i % 4 == 1) == kept) list.push_back({{"user", "the food of the " + names[i] + "?"}, {"assistant", eats(i)}});
    if ((i % 4 == 3) == kept) list.push_back({{"user", "the home of the " + names[i] + "?"}, {"assistant", lives(i)}});
  }
  return list;
}

static Rows rows(bool end_counts) {
  std::vector<Example> examples[2];
  for (const bool kept : {false, true})
    for (const auto& messages : conversations(kept)) {
      ChatTokens chat = chat_tokens(plain, tokenizer, messages);
      if (!end_counts) chat.answer.back() = false;
      examples[kept].push_back({chat.ids, chat.answer});
    }
  return Rows(examples[false], examples[true], T, 18, end + 1);
}

static Decoder copy_of(const Decoder& decoder) {
  Decoder copy(decoder.config);
  std::vector<Parameter> from = parameters(decoder), to = parameters(copy);
  for (std::size_t i = 0; i < from.size(); ++i)  // a copy of the handles would share the numbers
    std::ranges::copy(from[i].tensor.values(), to[i].tensor.mutable_values().begin());
  return copy;
}

// Trains the given parameters and no others. Returns how many numbers those are.
static std::size_t fit(const Decoder& decoder, const std::vector<Parameter>& parameters, Rows data, double rate,
                       const std::function<void()>& rebind = [] {}) {
  std::size_t count = 0;
  std::vector<Tensor> weights;
  for (const Parameter& parameter : parameters) count += weights.emplace_back(parameter.tensor).size();
  AdamW optimizer(decay_matrices(weights, 0));
  const Schedule schedule({.peak = rate, .floor = rate / 10, .warmup_steps = steps / 10, .decay_steps = steps});
  for (std::size_t step = 0; step < steps; ++step) {
    const Batch batch = data.training(8);
    decoder.loss(batch.inputs, batch.targets, batch.rows).backward();
    clip_grad_norm(weights, 1);
    optimizer.step(schedule.rate(step));
    for (Tensor& weight : weights) weight.clear_grad();
    rebind();
  }
  return count;
}

static std::string answer(const Decoder& decoder, const Message& question) {
  Rng rng(1);
  const std::vector<int> asked = chat_tokens(plain, tokenizer, std::span(&question, 1), true).ids;
  std::string text = tokenizer.decode(
      generate(decoder, asked, {.tokens = 50, .sampler = {.temperature = 0}, .end_token = end}, rng));
  return text.ends_with('\n') ? text.replace(text.size() - 1, 1, " [end]") : text + "…";
}

static double report(const char* what, const Decoder& decoder, std::size_t trained) {
  const auto kept = conversations(true);
  int right = 0;
  for (const auto& messages : kept) right += answer(decoder, messages[0]) == messages[1].content + " [end]";
  const double loss = validation_loss(decoder, rows(true), 8);
  std::printf("%-19s %7zu  %5.3f  %5d   %s\n", what, trained, loss, right, answer(decoder, kept[0][0]).c_str());
  return loss;
}

int main() {
  set_thread_count(1);  // so small a model is fastest on one
  Rows data = rows(true);
  expect_supervision(data, end);
  std::printf("1. What counts\n\n%s\n", audit_table(data, 1, tokenizer).c_str());

  const Decoder base = pretrained(), full = copy_of(base), talker = copy_of(base);
  std::printf("2. Twelve new questions; the first is \"%s\"\n\n", conversations(true)[0][0].content.c_str());
  std::printf("%-19s %7s  %5s  %5s   its answer\n", "", "trained", "loss", "right");
  const double before = report("as it was", base, 0);
  const double endless = report("the end not counted", talker, fit(talker, parameters(talker), rows(false), 3e-4));
  const double ended = report("fine-tuned", full, fit(full, parameters(full), rows(true), 3e-4));

  Decoder adapted = copy_of(base);
  const std::vector<std::string> all = {"query", "key", "value", "output", "gate", "up", "down"};
  Rng rng(18);
  Lora lora(adapted, {.rank = 4, .alpha = 8, .projections = all}, rng);
  const std::size_t count = fit(adapted, lora.parameters(), rows(true), 5e-3, [&] { lora.rebind(); });
  const double apart = report("LoRA of rank 4", adapted, count);
  lora.merge();
  const double merged = report("merged", adapted, 0);
  return ended < endless && apart < before / 4 && merged == apart ? 0 : 1;
}
