// Chapter 18: a model that continues texts learns to answer, as a whole and through matrices of rank 4.
#include <cstdio>

#include "autograd/graph.h"
#include "nn/lora.h"
#include "nn/text/byte_tokenizer.h"
#include "nn/text/chat_template.h"
#include "nn/text/generate.h"
#include "optim/adamw.h"
#include "optim/rows.h"
#include "optim/trainer.h"
#include "optim/windows.h"

using namespace gradus;

static const std::vector<std::pair<std::string, std::string>> homes = {
    {"fox", "wood"}, {"owl", "barn"},  {"cow", "field"}, {"bee", "hive"},  {"pig", "sty"},   {"hen", "coop"},
    {"rat", "cellar"}, {"dog", "house"}, {"frog", "pond"}, {"crab", "sea"}, {"mole", "garden"}, {"goat", "hills"}};
static const std::vector<std::string> everywhere = {"query", "key", "value", "output", "gate", "up", "down"};
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

static nn::Message question_about(const std::string& animal) {
  return {"user", "Where does the " + animal + " live?"};
}

// All animals but the last two, which the model knows from the text and is never asked about.
static optim::Rows conversations(std::size_t context) {
  std::vector<optim::Example> examples;
  for (std::size_t i = 0; i + 2 < homes.size(); ++i) {
    const nn::Message talk[] = {question_about(homes[i].first), {"assistant", "in the " + homes[i].second + "."}};
    const nn::ChatTokens tokens = nn::chat_tokens(nn::ChatTemplate::plain, tokenizer, talk);
    examples.push_back({tokens.ids, tokens.answer});
  }
  return optim::Rows(examples, {}, context, 1);
}

static std::string answer(const nn::Decoder& decoder, const std::string& animal) {
  const nn::Message question = question_about(animal);
  const std::vector<int> prompt = nn::chat_tokens(nn::ChatTemplate::plain, tokenizer, {&question, 1}, true).ids;
  Rng rng(1);
  const nn::GenerateOptions likeliest{.tokens = 24, .sampler = {.temperature = 0}, .end_token = '\n'};
  const std::string text = tokenizer.decode(nn::generate(decoder, prompt, likeliest, rng));
  return text.substr(0, text.find('\n')) + (text.find('\n') == std::string::npos ? " …" : "");
}

// Trains what it is given, and nothing else.
static void fine_tune(const nn::Decoder& decoder, optim::Rows rows, const std::vector<nn::Parameter>& parameters,
                      double rate, const auto& before_each_step) {
  std::vector<Tensor> tensors;
  for (const nn::Parameter& parameter : parameters) tensors.push_back(parameter.tensor);
  optim::AdamW optimizer(optim::decay_matrices(tensors, 0));
  for (int step = 0; step < 150; ++step) {
    before_each_step();
    const optim::Batch batch = rows.training(rows.training_rows());
    decoder.loss(batch.inputs, batch.targets, batch.rows).backward();
    optimizer.step(rate);
    for (Tensor& tensor : tensors) tensor.clear_grad();
  }
  before_each_step();
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
  std::string line;
  for (const int id : ids) line += id < 0 ? "." : id == '\n' ? "⏎" : std::string(1, static_cast<char>(id));
  std::printf("%s\n", line.c_str());
}

static void show_what_counts(optim::Rows rows) {
  const optim::Batch row = rows.training(1);
  std::printf("A conversation, and below each token the next one, where it counts:\n");
  print(row.inputs);
  print(row.targets);
}

static void report(const char* how, std::size_t trained, const nn::Decoder& decoder, optim::Rows rows) {
  const NoGrad guard;
  const optim::Batch all = rows.training(rows.training_rows());
  const double loss = static_cast<double>(decoder.loss(all.inputs, all.targets, all.rows).item());
  std::printf("\n%-14s %6zu numbers trained, loss %.3f\n", how, trained, loss);
  for (const char* animal : {"fox", "hen", "mole", "goat"})
    std::printf("    %-5s %s\n", animal, answer(decoder, animal).c_str());
}

int main() {
  const optim::Rows rows = conversations(64);
  show_what_counts(rows);
  nn::Decoder whole = pretrained();
  report("before", 0, whole, rows);
  fine_tune(whole, rows, nn::parameters(whole), 1e-3, [] {});
  report("all of it", nn::count_parameters(whole), whole, rows);

  nn::Decoder adapted = pretrained();
  Rng rng(2);
  nn::Lora lora(adapted, {.rank = 4, .alpha = 8, .projections = everywhere}, rng);
  std::size_t few = 0;
  for (const nn::Parameter& parameter : lora.parameters()) few += parameter.tensor.size();
  fine_tune(adapted, rows, lora.parameters(), 1e-2, [&] { lora.rebind(); });
  report("LoRA, rank 4", few, adapted, rows);
  lora.merge();
  report("LoRA, merged", few, adapted, rows);
}
