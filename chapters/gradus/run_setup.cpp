#include "chapters/gradus/run_setup.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "autograd/error.h"
#include "nn/text/byte_tokenizer.h"
#include "nn/text/char_tokenizer.h"
#include "optim/presets.h"
#include "optim/story_grammar.h"
#include "optim/windows.h"

namespace gradus::tool {

static constexpr std::uint64_t default_seed = 1337;
static constexpr const char* default_preset = "stories";

namespace {

struct Corpus {
  std::string text;
  double validation_fraction = 0.1;
  std::optional<double> floor;  // nats per byte, where it is known
};

}  // namespace

static std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  expect<FileError>(file.good() && !std::filesystem::is_directory(path), "{}: the text cannot be read", path);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  expect<FileError>(!text.empty(), "{}: the text is empty; there is nothing to learn from", path);
  return text;
}

static Corpus corpus_of(const std::vector<std::string>& paths) {
  if (paths.empty()) {
    constexpr std::uint64_t story_seed = 1;
    const optim::StoryCorpus stories = optim::story_corpus(story_seed, 12'000'000);
    return {stories.text, 1.0 / 120, stories.nats_per_byte};
  }
  Corpus corpus;
  for (const std::string& path : paths) corpus.text += read_text(path);
  return corpus;
}

static std::unique_ptr<nn::Tokenizer> tokenizer_of(const std::string& name, const std::string& text) {
  if (name == "chars") return std::make_unique<nn::CharTokenizer>(nn::CharTokenizer::of_text(text));
  return std::make_unique<nn::ByteTokenizer>();
}

static optim::TrainerOptions with_flags(optim::TrainerOptions settings, const TrainOptions& options) {
  settings.steps = options.steps.value_or(settings.steps);
  settings.batch = options.batch.value_or(settings.batch);
  settings.accumulate = options.accumulate.value_or(settings.accumulate);
  settings.eval_every = options.eval_every.value_or(settings.eval_every);
  settings.patience = options.patience.value_or(settings.patience);
  if (options.schedule) optim::from_word(*options.schedule, settings.schedule);
  settings.rate = options.rate.value_or(settings.rate);
  settings.seed = options.seed.value_or(settings.seed);
  settings.skip_bad_steps = options.skip_bad_steps || settings.skip_bad_steps;
  return settings;
}

static nn::Config with_flags(nn::Config config, const TrainOptions& options) {
  config.context_length = options.context.value_or(config.context_length);
  if (options.attention) config.attention = nn::attention_kind(*options.attention);
  config.validate();
  return config;
}

// The rows, the same for a new run and for one that goes on.
static std::unique_ptr<optim::Data> data_of(const Corpus& corpus, const nn::Model& model, std::uint64_t seed) {
  return std::make_unique<optim::Windows>(model.tokenizer->encode(corpus.text), model.decoder.config.context_length,
                                          corpus.validation_fraction, seed);
}

static nn::Model new_model(const TrainOptions& options, const Corpus& corpus, std::uint64_t seed) {
  std::unique_ptr<nn::Tokenizer> tokenizer = tokenizer_of(options.tokenizer.value_or("bytes"), corpus.text);
  nn::Config config = nn::find_preset(options.preset.value_or(default_preset)).config;
  config.vocab_size = tokenizer->vocab_size();
  nn::Model model{nn::Decoder(with_flags(config, options)), std::move(tokenizer)};
  Rng rng(seed, 1);
  nn::initialise(model.decoder, rng);
  return model;
}

// A model whose weights are the beginning: what it is, it stays, but for the length of a row.
static nn::Model given_model(const TrainOptions& options) {
  expect(!options.preset && !options.tokenizer,
         "train: --init {} brings its architecture and its tokenizer; leave --preset and --tokenizer out", options.init);
  nn::Model model = nn::load_model(options.init);
  model.decoder.config = with_flags(model.decoder.config, options);
  model.decoder.set_attention(model.decoder.config.attention);
  return model;
}

RunSetup new_run(const TrainOptions& options) {
  const std::uint64_t seed = options.seed.value_or(default_seed);
  const Corpus corpus = corpus_of(options.texts);
  nn::Model model = options.init.empty() ? new_model(options, corpus, seed) : given_model(options);
  std::unique_ptr<optim::Data> data = data_of(corpus, model, seed);
  const std::uint64_t fingerprint = optim::fingerprint_of(*data);
  return {.model = std::move(model),
          .data = std::move(data),
          .source = {options.texts.empty() ? "stories" : "text", options.texts, fingerprint},
          .settings = with_flags(optim::training_settings(options.preset.value_or(default_preset)), options),
          .floor = corpus.floor};
}

static std::string text_of(const auto& value) {
  using nn::word_of, optim::word_of;
  if constexpr (std::is_enum_v<std::remove_cvref_t<decltype(value)>>)
    return std::string(word_of(value));
  else
    return message("{}", value);
}

// A line for each setting that is not the same.
template <class Settings>
static std::string differences(const Settings& run, const Settings& flags) {
  std::vector<std::string> wanted;
  Settings::fields(flags, [&](const char*, const auto& value) { wanted.push_back(text_of(value)); });
  std::string list;
  std::size_t i = 0;
  Settings::fields(run, [&](const char* name, const auto& value) {
    const std::string found = text_of(value);
    if (found != wanted[i]) list += message("\n  {} is {}, not {}", name, found, wanted[i]);
    ++i;
  });
  return list;
}

// What the flags ask of the model and the data that the run does not have.
static std::string refused_changes(const TrainOptions& options, const nn::Model& model, const optim::SavedRun& run,
                                   const Corpus& corpus) {
  nn::Config config = model.decoder.config;
  if (options.preset) {
    config = nn::find_preset(*options.preset).config;
    config.vocab_size = model.decoder.config.vocab_size;
  }
  std::string list = differences(model.decoder.config, with_flags(config, options));
  if (options.tokenizer && tokenizer_of(*options.tokenizer, corpus.text)->to_json() != model.tokenizer->to_json())
    list += message("\n  tokenizer is {} with {} tokens, not {}", model.tokenizer->name(), model.tokenizer->vocab_size(),
                    *options.tokenizer);
  optim::TrainerOptions wanted = with_flags(run.options, options);
  wanted.rate = run.options.rate;
  wanted.steps = run.options.steps;
  wanted.eval_every = run.options.eval_every;
  wanted.patience = run.options.patience;
  return list + differences(run.options, wanted);
}

RunSetup resumed_run(const TrainOptions& options, const std::filesystem::path& checkpoint, const optim::SavedRun& run) {
  const std::vector<std::string>& paths = options.texts.empty() ? run.source.paths : options.texts;
  const Corpus corpus = corpus_of(paths);
  nn::Model model = nn::load_model(checkpoint);
  const std::string refused = refused_changes(options, model, run, corpus);
  expect<FileError>(refused.empty(), "{}: a run goes on as it began; this one was asked for what it is not:{}",
                    checkpoint.string(), refused);
  const optim::TrainerOptions settings = with_flags(run.options, options);
  if (const std::string changed = differences(settings, run.options); !changed.empty())
    std::fprintf(stderr, "changed from step %llu on:%s\n", static_cast<unsigned long long>(run.state.step), changed.c_str());
  std::unique_ptr<optim::Data> data = data_of(corpus, model, run.options.seed);
  return {.model = std::move(model), .data = std::move(data), .source = {run.source.kind, paths, run.source.fingerprint},
          .settings = settings, .floor = corpus.floor};
}

}  // namespace gradus::tool
