#include "chapters/gradus/train.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "autograd/error.h"
#include "autograd/parallel.h"
#include "nn/checkpoint.h"
#include "nn/text/byte_tokenizer.h"
#include "nn/text/char_tokenizer.h"
#include "optim/metrics.h"
#include "optim/plot.h"
#include "optim/presets.h"
#include "optim/progress.h"
#include "optim/story_grammar.h"
#include "optim/windows.h"

namespace gradus::tool {

namespace {

struct Corpus {
  std::string text;
  double validation_fraction = 0.1;
  std::optional<double> floor;  // nats per byte, where it is known
};

}  // namespace

static void say(const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }

static std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  expect<FileError>(file.good() && !std::filesystem::is_directory(path), "{}: the text cannot be read", path);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  expect<FileError>(!text.empty(), "{}: the text is empty; there is nothing to learn from", path);
  return text;
}

static Corpus corpus_of(const TrainOptions& options) {
  if (options.texts.empty()) {
    constexpr std::uint64_t story_seed = 1;
    const optim::StoryCorpus stories = optim::story_corpus(story_seed, 2'000'000);
    return {stories.text, 0.05, stories.nats_per_byte};
  }
  Corpus corpus;
  for (const std::string& path : options.texts) corpus.text += read_text(path);
  return corpus;
}

static std::unique_ptr<nn::Tokenizer> tokenizer_of(const TrainOptions& options, const std::string& text) {
  if (options.tokenizer == "chars") return std::make_unique<nn::CharTokenizer>(nn::CharTokenizer::of_text(text));
  return std::make_unique<nn::ByteTokenizer>();
}

static nn::Config config_of(const TrainOptions& options, const nn::Tokenizer& tokenizer) {
  nn::Config config = nn::find_preset(options.preset).config;
  config.vocab_size = tokenizer.vocab_size();
  config.context_length = options.context.value_or(config.context_length);
  if (!options.attention.empty()) config.attention = nn::attention_kind(options.attention);
  config.validate();
  return config;
}

static optim::TrainerOptions settings_of(const TrainOptions& options) {
  optim::TrainerOptions settings = optim::training_settings(options.preset);
  settings.steps = options.steps.value_or(settings.steps);
  settings.batch = options.batch.value_or(settings.batch);
  settings.rate = options.rate.value_or(settings.rate);
  settings.eval_every = options.eval_every.value_or(settings.eval_every);
  settings.seed = options.seed;
  return settings;
}

void train(const TrainOptions& options) {
  const std::filesystem::path out = options.out;
  expect<FileError>(!std::filesystem::exists(out / "model.safetensors"),
                    "{}: already holds a model, which training would overwrite; choose another --out, or move it away",
                    options.out);
  if (options.threads != 0) set_thread_count(options.threads);
  const Corpus corpus = corpus_of(options);
  const std::unique_ptr<nn::Tokenizer> tokenizer = tokenizer_of(options, corpus.text);
  const nn::Config config = config_of(options, *tokenizer);
  const optim::TrainerOptions settings = settings_of(options);
  optim::Windows windows(tokenizer->encode(corpus.text), config.context_length, corpus.validation_fraction, options.seed);

  nn::Decoder decoder(config);
  Rng rng(options.seed, 1);
  nn::initialise(decoder, rng);
  say(message("{} parameters, {} layers, width {}, context {}; {} to learn from, {} kept for validation, tokens are {}; "
              "{} threads",
              nn::count_parameters(decoder), config.n_layers, config.width, config.context_length,
              windows.training_tokens().size(), windows.validation_tokens().size(), tokenizer->name(), thread_count()));
  if (corpus.floor) say(message("no model can have a loss below {:.3f} nats per byte on this text", *corpus.floor));

  nn::save_model(out, decoder, *tokenizer);
  std::vector<optim::Metrics> rows;
  optim::MetricsWriter log(out / "metrics.csv");
  optim::Progress progress(settings.steps);
  const optim::Metrics last = optim::train(decoder, windows, settings, [&](const optim::Metrics& metrics) {
    rows.push_back(metrics);
    log.write(metrics);
    progress.update(metrics);
    if (metrics.validation_loss) nn::save_model(out, decoder, *tokenizer);
  });
  progress.end_line();
  const bool drawn = optim::plot_loss(rows, out / "loss.svg", {.title = options.preset, .floor = corpus.floor});
  say(message("loss {:.4f}{} after {} tokens in {}; model, metrics.csv{} in {}", last.loss,
              last.validation_loss ? message(", validation {:.4f}", *last.validation_loss) : "", last.tokens,
              optim::duration(last.seconds), drawn ? " and loss.svg" : "", options.out));
}

}  // namespace gradus::tool
