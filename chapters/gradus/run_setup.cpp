#include "chapters/gradus/run_setup.h"

#include <cstdio>
#include <filesystem>

#include "autograd/error.h"
#include "chapters/gradus/run_data.h"
#include "nn/any_model.h"
#include "optim/presets.h"

namespace gradus::tool {

static constexpr std::uint64_t default_seed = 1337;
static constexpr const char* default_preset = "stories";

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
  config.chat_template = options.chat_template.value_or(config.chat_template);
  if (options.attention) config.attention = nn::attention_kind(*options.attention);
  config.validate();
  return config;
}

static nn::Model new_model(const TrainOptions& options, const optim::DataSource& source, std::uint64_t seed) {
  std::unique_ptr<nn::Tokenizer> tokenizer = tokenizer_of(options.tokenizer.value_or("bytes"), source);
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
  nn::Model model = nn::load_any(options.init);
  expect(model.tokenizer->vocab_size() == model.decoder.config.vocab_size,
         "train: --init {} has a vocab_size of {} and a tokenizer of {} tokens; a checkpoint needs as many rows as tokens", options.init,
         model.decoder.config.vocab_size, model.tokenizer->vocab_size());
  model.decoder.config = with_flags(model.decoder.config, options);
  model.decoder.set_attention(model.decoder.config.attention);
  return model;
}

static optim::DataSource source_of(const TrainOptions& options) {
  expect(options.texts.empty() || options.conversations.empty(), "train: learn from --text or from the conversations of --data, not both");
  if (!options.conversations.empty()) return {"chat", options.conversations, ""};
  if (options.texts.empty()) return {"stories", {}, ""};
  return {options.documents ? "documents" : "text", options.texts, options.separator};
}

RunSetup new_run(const TrainOptions& options) {
  const std::uint64_t seed = options.seed.value_or(default_seed);
  optim::DataSource source = source_of(options);
  nn::Model model = options.init.empty() ? new_model(options, source, seed) : given_model(options);
  std::filesystem::remove(std::filesystem::path(options.out) / token_file);  // of a run that never began
  std::unique_ptr<optim::Data> data = data_of(source, model, seed, options.out);
  source.fingerprint = optim::fingerprint_of(*data);
  const std::optional<double> floor = floor_of(source, *model.tokenizer);
  return {.model = std::move(model),
          .data = std::move(data),
          .source = std::move(source),
          .settings = with_flags(optim::training_settings(options.preset.value_or(default_preset)), options),
          .floor = floor};
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
static std::string refused_changes(const TrainOptions& options, const nn::Model& model, const optim::SavedRun& run) {
  nn::Config config = model.decoder.config;
  if (options.preset) {
    config = nn::find_preset(*options.preset).config;
    config.vocab_size = model.decoder.config.vocab_size;
  }
  std::string list = differences(model.decoder.config, with_flags(config, options));
  if (options.tokenizer && tokenizer_of(*options.tokenizer, run.source)->to_json() != model.tokenizer->to_json())
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
  nn::Model model = nn::load_model(checkpoint);
  const std::string refused = refused_changes(options, model, run);
  expect<FileError>(refused.empty(), "{}: a run goes on as it began; this one was asked for what it is not:{}",
                    checkpoint.string(), refused);
  const optim::TrainerOptions settings = with_flags(run.options, options);
  if (const std::string changed = differences(settings, run.options); !changed.empty())
    std::fprintf(stderr, "changed from step %llu on:%s\n", static_cast<unsigned long long>(run.state.step), changed.c_str());
  optim::DataSource source = run.source;
  if (!source_of(options).paths.empty()) source.paths = source_of(options).paths;  // they may have moved; other texts are noticed
  std::unique_ptr<optim::Data> data = data_of(source, model, run.options.seed, checkpoint.parent_path());
  const std::optional<double> floor = floor_of(source, *model.tokenizer);
  return {.model = std::move(model), .data = std::move(data), .source = std::move(source), .settings = settings, .floor = floor};
}

}  // namespace gradus::tool
