// Chapter 18: a model that goes on with a text learns to answer, first with all its numbers, then with a tenth of them.
#include <algorithm>
#include <cstdio>
#include <string>

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
static const std::string foods[] = {"fish", "mice", "corn", "honey", "grass", "sugar", "flies", "roots"};
static const std::string homes[] = {"house", "tree", "den", "hill", "barn", "lake", "pond", "cave", "wood"};
static const CharTokenizer tokenizer = CharTokenizer::of_text("abcdefghijklmnopqrstuvwxyz .?:\n");
static constexpr auto plain = ChatTemplate::plain;
static constexpr std::size_t context = 80, steps = 200;
static const int end = end_of_answer(plain, tokenizer);  // the line break
static const int padding = end + 1;                      // anything else

static std::string eats(std::size_t i) { return "the " + names[i] + " eats " + foods[i % std::size(foods)] + "."; }
static std::string lives(std::size_t i) { return "the " + names[i] + " lives in a " + homes[i % std::size(homes)] + "."; }

// What the model knows before it can answer: sentences, a line break now and then.
static Decoder pretrained() {
  Rng rng(18);
  std::string text;
  for (int pair = 0; pair < 2000; ++pair) {
    const std::size_t i = rng.below(std::size(names));
    text += rng.below(2) == 0 ? eats(i) + " " + lives(i) : lives(i) + " " + eats(i);
    text += rng.below(4) == 0 ? "\n" : " ";
  }
  Decoder decoder({.vocab_size = tokenizer.vocab_size(), .width = 64, .n_layers = 2, .n_kv_heads = 2, .context_length = context});
  initialise(decoder, rng);
  Windows windows(tokenizer.encode(text), context, 0, 18);
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
  return Rows(examples[false], examples[true], context, 18, padding);
}

static Decoder fine_tuned(const Decoder& base, bool end_counts) {
  Decoder decoder(base.config);
  const std::vector<Parameter> from = parameters(base), to = parameters(decoder);
  for (std::size_t i = 0; i < from.size(); ++i)  // a copy of the handles would share the numbers
    std::ranges::copy(from[i].tensor.values(), Tensor(to[i].tensor).mutable_values().begin());
  Rows data = rows(end_counts);
  train(decoder, data, {.steps = steps, .batch = 8, .rate = 3e-4, .weight_decay = 0});
  return decoder;
}

static void adapt(const Decoder& decoder, Lora& lora) {
  std::vector<Tensor> weights;
  for (const Parameter& parameter : lora.parameters()) weights.push_back(parameter.tensor);
  AdamW optimizer(decay_matrices(weights, 0));
  const Schedule schedule({.peak = 5e-3, .floor = 5e-4, .warmup_steps = steps / 10, .decay_steps = steps});
  Rows data = rows(true);
  for (std::size_t step = 0; step < steps; ++step) {
    const Batch batch = data.training(8);
    lora.rebind();
    decoder.loss(batch.inputs, batch.targets, batch.rows).backward();
    clip_grad_norm(weights, 1);
    optimizer.step(schedule.rate(step));
    for (Tensor& weight : weights) weight.clear_grad();
  }
  lora.rebind();
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
  Rows data = rows(true);
  expect_supervision(data, end);
  std::printf("1. What counts\n\n%s\n", audit_table(data, 1, tokenizer).c_str());

  Decoder model = pretrained();
  const std::size_t all = count_parameters(model);
  std::printf("2. Twelve new questions; the first is \"%s\"\n\n", conversations(true)[0][0].content.c_str());
  std::printf("%-19s %7s  %5s  %5s   its answer\n", "", "trained", "loss", "right");
  const double before = report("as it was", model, 0);
  const double endless = report("the end not counted", fine_tuned(model, false), all);
  const double full = report("fine-tuned", fine_tuned(model, true), all);

  Rng rng(18);
  Lora lora(model, {.rank = 4, .alpha = 8, .projections = {"query", "key", "value", "output", "gate", "up", "down"}}, rng);
  adapt(model, lora);
  std::size_t few = 0;
  for (const Parameter& parameter : lora.parameters()) few += parameter.tensor.size();
  const double adapted = report("LoRA of rank 4", model, few);
  lora.merge();
  const double merged = report("merged", model, 0);
  return full < endless && adapted < before / 4 && merged == adapted ? 0 : 1;
}
