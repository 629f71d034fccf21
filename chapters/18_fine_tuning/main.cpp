// Chapter 18: a model that continues texts learns to answer, as a whole and through matrices of rank 4.
#include <cstdio>
#include <functional>

#include "nn/lora.h"
#include "nn/text/byte_tokenizer.h"
#include "nn/text/chat_template.h"
#include "nn/text/generate.h"
#include "optim/adamw.h"
#include "optim/audit.h"
#include "optim/trainer.h"
#include "optim/windows.h"

using namespace gradus;

static const std::vector<std::pair<std::string, std::string>> homes = {
    {"fox", "wood"}, {"owl", "barn"},  {"cow", "field"}, {"bee", "hive"},  {"pig", "sty"},   {"hen", "coop"},
    {"rat", "cellar"}, {"dog", "house"}, {"frog", "pond"}, {"crab", "sea"}, {"mole", "garden"}, {"goat", "hills"}};
static const nn::ByteTokenizer tokenizer;

static std::string text_to_continue() {
  std::string text;
  Rng rng(1);
  for (int i = 0; i < 600; ++i) {
    const auto& [animal, home] = homes[rng.below(homes.size())];
    text += "The " + animal + " lives in the " + home + ".\n";
  }
  return text;
}

static std::vector<nn::Message> question_about(const std::string& animal) {
  return {{"user", "Where does the " + animal + " live?"}};
}

// All animals but the last two, which the model knows from the text and is never asked about.
static optim::Rows conversations(std::size_t context) {
  std::vector<optim::Example> examples;
  for (std::size_t i = 0; i + 2 < homes.size(); ++i) {
    std::vector<nn::Message> talk = question_about(homes[i].first);
    talk.push_back({"assistant", "In the " + homes[i].second + "."});
    nn::ChatTokens tokens = nn::chat_tokens(nn::ChatTemplate::plain, tokenizer, talk);
    examples.push_back({tokens.ids, tokens.answer});
  }
  return optim::Rows(examples, {}, context, 1);
}

static std::string answer(const nn::Decoder& decoder, const std::string& animal) {
  const std::vector<int> prompt = nn::chat_tokens(nn::ChatTemplate::plain, tokenizer, question_about(animal), true).ids;
  Rng rng(1);
  std::string text = tokenizer.decode(nn::generate(decoder, prompt, {.tokens = 24, .sampler = {.temperature = 0}, .end_token = '\n'}, rng));
  return text.substr(0, text.find('\n')) + (text.find('\n') == std::string::npos ? " …" : "");
}

// Trains what it is given, and nothing else, for so many steps.
static double fine_tune(const nn::Decoder& decoder, optim::Rows rows, const std::vector<nn::Parameter>& parameters, double rate,
                        const std::function<void()>& before_each_step) {
  std::vector<Tensor> tensors;
  for (const nn::Parameter& parameter : parameters) tensors.push_back(parameter.tensor);
  optim::AdamW optimizer(optim::decay_matrices(tensors, 0));
  double last = 0;
  for (int step = 0; step < 150; ++step) {
    before_each_step();
    const optim::Batch batch = rows.training(10);
    const Tensor loss = decoder.loss(batch.inputs, batch.targets, batch.rows);
    loss.backward();
    optimizer.step(rate);
    for (Tensor& tensor : tensors) tensor.clear_grad();
    last = static_cast<double>(loss.item());
  }
  before_each_step();
  return last;
}

static nn::Decoder pretrained() {
  nn::Decoder decoder({.width = 64, .n_layers = 2, .n_heads = 4, .n_kv_heads = 2, .context_length = 64});
  Rng rng(7);
  nn::initialise(decoder, rng);
  optim::Windows windows(tokenizer.encode(text_to_continue()), 64, 0, 1);
  optim::train(decoder, windows, {.steps = 300, .batch = 8, .rate = 3e-3});
  return decoder;
}

static void print(std::span<const int> ids) {
  for (const int id : ids) std::printf("%s", id < 0 ? "." : id == '\n' ? "⏎" : std::string(1, static_cast<char>(id)).c_str());
  std::printf("\n");
}

static void show_what_counts(optim::Rows rows) {
  const optim::Batch row = rows.training(1);
  std::printf("A conversation, and below each token what the model must say next:\n");
  print(row.inputs);
  print(row.targets);
  std::printf("\n");
}

static void report(const char* how, std::size_t trained, double loss, const nn::Decoder& decoder) {
  std::printf("%-22s %6zu numbers trained, loss %.3f\n", how, trained, loss);
  for (const char* animal : {"fox", "hen", "mole", "goat"}) std::printf("    %-5s %s\n", animal, answer(decoder, animal).c_str());
}

int main() {
  const optim::Rows rows = conversations(64);
  show_what_counts(rows);
  nn::Decoder whole = pretrained();
  report("before", 0, 0, whole);
  const std::size_t all = nn::count_parameters(whole);
  report("all of it", all, fine_tune(whole, rows, nn::parameters(whole), 1e-3, [] {}), whole);

  nn::Decoder adapted = pretrained();
  Rng rng(2);
  nn::Lora lora(adapted, {.rank = 4, .alpha = 8, .projections = {"query", "key", "value", "output", "gate", "up", "down"}}, rng);
  std::size_t few = 0;
  for (const nn::Parameter& parameter : lora.parameters()) few += parameter.tensor.size();
  const double loss = fine_tune(adapted, rows, lora.parameters(), 1e-2, [&] { lora.rebind(); });
  report("LoRA, rank 4", few, loss, adapted);
  lora.merge();
  report("LoRA, merged", few, loss, adapted);
}
