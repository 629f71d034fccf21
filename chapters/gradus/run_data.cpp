#include "chapters/gradus/run_data.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "autograd/error.h"
#include "nn/text/char_tokenizer.h"
#include "nn/text/chat_template.h"
#include "nn/text/read_tokenizer.h"
#include "optim/audit.h"
#include "optim/conversations.h"
#include "optim/encode.h"
#include "optim/rows.h"
#include "optim/story_grammar.h"
#include "optim/token_file.h"
#include "optim/windows.h"

namespace gradus::tool {

static constexpr std::uint64_t story_seed = 1;
static constexpr std::size_t story_bytes = 12'000'000;
static constexpr double validation_bytes = 120'000;         // at most, and at most a tenth of the text: it is read again and again
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

std::unique_ptr<nn::Tokenizer> tokenizer_of(const std::string& name, const optim::DataSource& source) {
  if (name == "chars") return std::make_unique<nn::CharTokenizer>(characters_of(source));
  return nn::read_tokenizer(name);
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

std::unique_ptr<optim::Data> data_of(const optim::DataSource& source, const nn::Model& model, std::uint64_t seed,
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

std::optional<double> floor_of(const optim::DataSource& source, const nn::Tokenizer& tokenizer) {
  if (source.kind != "stories" || tokenizer.name() != "bytes") return std::nullopt;
  return optim::story_corpus(story_seed, story_bytes).nats_per_byte;
}

}  // namespace gradus::tool
