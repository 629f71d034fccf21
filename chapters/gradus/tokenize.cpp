#include "chapters/gradus/tokenize.h"

#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>

#include "autograd/error.h"
#include "nn/atomic_file.h"
#include "nn/text/bpe_trainer.h"
#include "nn/text/read_tokenizer.h"
#include "nn/text/utf8.h"
#include "optim/corpus.h"

namespace gradus::tool {

static std::string standard_input() {
  std::string text((std::istreambuf_iterator<char>(std::cin)), {});
  expect<FileError>(!std::cin.bad(), "standard input: cannot be read");
  return text;
}

static void write(std::string_view text) {
  expect<FileError>(std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0,
                    "standard output: cannot be written");
}

static std::vector<int> encoded_input(const TokenizeOptions& options, const nn::Tokenizer& tokenizer) {
  return tokenizer.encode(standard_input(), options.allow_special ? nn::Specials::allowed : nn::Specials::as_text);
}

void tokenize_train(const TokenizeOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  nn::BpeTrainer trainer(
      {.vocab_size = options.vocab, .pattern = nn::pattern_named(options.pattern), .specials = options.specials});
  std::size_t bytes = 0;
  const optim::Corpus corpus{{options.texts.begin(), options.texts.end()}, options.separator};
  optim::for_each_piece(corpus, [&](const optim::Piece& piece) {
    trainer.read(piece.text);
    bytes += piece.text.size();
  });
  const nn::BpeTokenizer tokenizer = trainer.train();
  const std::string json = tokenizer.to_json();
  nn::AtomicFile file(options.out);
  file.write(json.data(), json.size());
  file.commit();

  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::fprintf(stderr, "%zu tokens: 256 bytes, %zu merges, %zu special; from %zu bytes of text in %.1f s; in %s\n",
               tokenizer.vocab_size(), tokenizer.model().merges.size(), options.specials.size(), bytes, seconds,
               options.out.c_str());
  if (tokenizer.vocab_size() < options.vocab)
    std::fprintf(stderr, "that is fewer than the %zu asked for: the text has no pair left to merge\n", options.vocab);
}

void tokenize_encode(const TokenizeOptions& options) {
  std::string line;
  for (const int id : encoded_input(options, *nn::read_tokenizer(options.tokenizer)))
    line.append(line.empty() ? "" : " ").append(std::to_string(id));
  write(line + "\n");
}

static std::vector<int> read_ids(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  std::vector<int> ids;
  for (std::size_t begin; (begin = text.find_first_not_of(blanks)) != text.npos;) {
    text.remove_prefix(begin);
    const std::string_view word = text.substr(0, text.find_first_of(blanks));
    int id = 0;
    const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), id);
    expect<FileError>(problem == std::errc() && end == word.data() + word.size(),
                      "standard input: expected ids with spaces between them, found \"{}\" as number {}",
                      word.substr(0, 40), ids.size());
    ids.push_back(id);
    text.remove_prefix(word.size());
  }
  return ids;
}

void tokenize_decode(const TokenizeOptions& options) {
  const auto tokenizer = nn::read_tokenizer(options.tokenizer);
  write(tokenizer->decode(read_ids(standard_input())));
}

// What a token writes inside a text: some tokenizers take a space from the first token of all.
static std::string text_of(const nn::Tokenizer& tokenizer, int id) {
  const int twice[] = {id, id};
  return tokenizer.decode(twice).substr(tokenizer.decode(std::span(twice, 1)).size());
}

void tokenize_inspect(const TokenizeOptions& options) {
  const auto tokenizer = nn::read_tokenizer(options.tokenizer);
  const bool colour = isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  constexpr std::string_view backgrounds[] = {"\33[44m", "\33[42m", "\33[45m", "\33[46m"};
  constexpr std::string_view plain = "\33[0m";
  std::string lines;
  std::size_t number = 0;
  for (const int id : encoded_input(options, *tokenizer)) {
    const std::string text = text_of(*tokenizer, id);
    std::string token = '"' + nn::escaped(text) + '"';
    if (colour) token = message("{}{}{}", backgrounds[number++ % std::size(backgrounds)], token, plain);
    lines += message("{:>7} | ", id) + token + " |";
    for (const char byte : text) lines += message(" {:02X}", static_cast<unsigned>(static_cast<unsigned char>(byte)));
    lines += "\n";
  }
  write(lines);
}

}  // namespace gradus::tool
