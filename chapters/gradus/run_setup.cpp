#include "chapters/gradus/run_setup.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>

#include "autograd/error.h"
#include "nn/any_model.h"
#include "nn/text/char_tokenizer.h"
#include "nn/text/chat_template.h"
#include "nn/text/read_tokenizer.h"
#include "optim/audit.h"
#include "optim/conversations.h"
#include "optim/corpus.h"
#include "optim/encode.h"
#include "optim/presets.h"
#include "optim/rows.h"
#include "optim/story_grammar.h"
#include "optim/token_file.h"
#include "optim/windows.h"

namespace gradus::tool {

static constexpr std::uint64_t default_seed = 1337;
static constexpr const char* default_preset = "stories";

static constexpr std::uint64_t story_seed = 1;
static constexpr std::size_t story_bytes = 12'000'000;
static constexpr double validation_bytes = 120'000;         // at most, and at most a tenth of the text: it is read again and again
static constexpr const char* token_file = "tokens.bin";
static constexpr std::uint64_t memory_bytes = 100'000'000;  // a larger text is kept as a file of tokens

static optim::Corpus corpus_of(const optim::DataSource& source) {
  return {{source.paths.begin(), source.paths.end()}, source.separator};
}

static double validation_fraction_of(double bytes) { return std::min(0.1, validation_bytes / bytes); }

// All characters of the corpus.
static nn::CharTokenizer characters_of(const optim::DataSource& source) {
  expect(source.kind != "chat", "train: the characters of conversations are not collected; use --tokenizer bytes, or --init with a model");
  if (source.kind == "stories") return nn::CharTokenizer::of_text(optim::story_corpus(story_seed, story_bytes).text);
  std::set<std::string> all;
  optim::for_each_piece(corpus_of(source), [&](const optim::Piece& piece) {
    const nn::CharTokenizer characters = nn::CharTokenizer::of_text(piece.text);
    all.insert(characters.vocabulary().begin(), characters.vocabulary().end());
  });
  return nn::CharTokenizer({all.begin(), all.end()});
}

static std::unique_ptr<nn::Tokenizer> tokenizer_of(const std::string& name, const optim::DataSource& source) {
  if (name == "chars") return std::make_unique<nn::CharTokenizer>(characters_of(source));
  return nn::read_tokenizer(name);
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
  config.chat_template = options.chat_template.value_or(config.chat_template);
  if (options.attention) config.attention = nn::attention_kind(*options.attention);
  config.validate();
  return config;
}

static void say_left_out(const optim::Corpus& corpus) {
  const std::vector<std::filesystem::path> files = optim::left_out_of(corpus);
  if (!files.empty())
    std::fprintf(stderr, "%s\n", message("{} files of the folders are neither .txt nor .jsonl and are left out: {}{}", files.size(),
                                         files.front().string(), files.size() > 1 ? ", …" : "").c_str());
}

// A large text's tokens, in a file of the run's folder that is made once.
static std::shared_ptr<const optim::TokenSource> tokens_in_file(const optim::Corpus& corpus, const nn::Tokenizer& tokenizer,
                                                                const std::filesystem::path& out) {
  const std::filesystem::path path = out / token_file;
  if (!std::filesystem::exists(path)) {
    std::fprintf(stderr, "writing the text's tokens to %s\n", path.string().c_str());
    std::filesystem::create_directories(out);
    optim::TokenFileWriter file(path, tokenizer);
    optim::encode(corpus, tokenizer, [&](std::span<const int> ids) { file.write(ids); });
    file.commit();
  }
  return std::make_shared<optim::TokenFile>(path, tokenizer);
}

static std::unique_ptr<optim::Data> conversations(const std::vector<std::filesystem::path>& paths, const nn::Model& model,
                                                  double fraction, std::uint64_t seed) {
  nn::ChatTemplate kind{};
  nn::from_word(model.decoder.config.chat_template, kind);
  const std::size_t context = model.decoder.config.context_length;
  optim::ConversationRows chat = optim::conversation_rows(paths, kind, *model.tokenizer, context, fraction, seed);
  if (chat.cut > 0)
    std::fprintf(stderr, "%s\n", message("{} conversations are longer than a context of {}: {} lose their end, {} have no answer that fits "
                                         "and are left out", chat.cut, context, chat.cut - chat.left_out, chat.left_out).c_str());
  optim::expect_supervision(chat.rows, nn::end_of_answer(kind, *model.tokenizer));
  return std::make_unique<optim::Rows>(std::move(chat.rows));
}

// The rows, the same for a new run and for one that goes on.
static std::unique_ptr<optim::Data> data_of(const optim::DataSource& source, const nn::Model& model, std::uint64_t seed,
                                            const std::filesystem::path& out) {
  const nn::Tokenizer& tokenizer = *model.tokenizer;
  const std::size_t context = model.decoder.config.context_length;
  if (source.kind == "stories")
    return std::make_unique<optim::Windows>(tokenizer.encode(optim::story_corpus(story_seed, story_bytes).text), context,
                                            validation_fraction_of(story_bytes), seed);
  const optim::Corpus corpus = corpus_of(source);
  say_left_out(corpus);
  const std::uint64_t bytes = optim::bytes_of(corpus);
  const double fraction = validation_fraction_of(static_cast<double>(bytes));
  if (source.kind == "chat") return conversations(corpus.paths, model, fraction, seed);
  if (source.kind == "documents") {
    optim::Rows rows = optim::document_rows(corpus, tokenizer, context, fraction, seed);
    if (const std::optional<int> end = tokenizer.end_token()) optim::expect_supervision(rows, *end);
    return std::make_unique<optim::Rows>(std::move(rows));
  }
  if (bytes > memory_bytes)
    return std::make_unique<optim::Windows>(tokens_in_file(corpus, tokenizer, out), context, fraction, seed);
  return std::make_unique<optim::Windows>(optim::encode(corpus, tokenizer), context, fraction, seed);
}

static std::optional<double> floor_of(const optim::DataSource& source, const nn::Tokenizer& tokenizer) {
  if (source.kind != "stories" || tokenizer.name() != "bytes") return std::nullopt;
  return optim::story_corpus(story_seed, story_bytes).nats_per_byte;
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
