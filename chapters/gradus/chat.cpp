#include "chapters/gradus/chat.h"

#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <vector>

#include "autograd/error.h"
#include "autograd/parallel.h"
#include "nn/any_model.h"
#include "nn/text/chat_template.h"
#include "nn/text/generate.h"
#include "nn/text/text_stream.h"
#include "nn/text/utf8.h"

namespace gradus::tool {

static void write(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

static nn::ChatTemplate template_of(const ChatOptions& options, const nn::Model& model) {
  nn::ChatTemplate kind{};
  nn::from_word(options.chat_template.value_or(model.decoder.config.chat_template), kind);
  expect(kind != nn::ChatTemplate::none, "{}: the model has no chat template, so it was not taught to answer; `gradus train --init {} "
         "--data FILE.jsonl --template plain` teaches it, --template says which one to try", options.model, options.model);
  nn::end_of_answer(kind, *model.tokenizer);
  return kind;
}

// The conversation's tokens, with room for an answer. What does not fit any more is forgotten from the beginning, a question with
// its answer at a time, but not the system message.
static std::vector<int> fitting_tokens(nn::ChatTemplate kind, const nn::Model& model, std::vector<nn::Message>& messages, std::size_t answer) {
  const std::size_t context = model.decoder.config.context_length, room = context - std::min(context / 2, answer);
  const std::size_t first = messages[0].role == "system" ? 1 : 0;
  for (;;) {
    std::vector<int> ids = nn::chat_tokens(kind, *model.tokenizer, messages, true).ids;
    if (ids.size() <= room) return ids;
    expect(messages.size() > first + 2, "chat: the message has {} tokens with what stands around it, and the context of {} leaves room for {}; say "
           "it shorter", ids.size(), context, room);
    messages.erase(messages.begin() + static_cast<std::ptrdiff_t>(first), messages.begin() + static_cast<std::ptrdiff_t>(first + 2));
    std::fprintf(stderr, "(the oldest question and answer are forgotten: the context holds %zu tokens)\n", context);
  }
}

static std::string answer(const ChatOptions& options, const nn::Model& model, int end, const std::vector<int>& prompt,
                          const nn::Sampler& sampler) {
  // Where a line break ends an answer, so does one inside a longer token.
  std::vector<std::string> stops;
  if (model.tokenizer->decode(std::span(&end, 1)) == "\n") stops.push_back("\n");
  nn::TextStream stream(*model.tokenizer, prompt, stops);
  std::string text;
  const auto show = [&](const std::string& piece) {
    text += piece;
    write(piece);
  };
  const nn::GenerateOptions settings{.tokens = options.tokens, .end_token = end,
                                     .stop = [&](std::size_t) { return stream.stopped(); }};
  nn::generate(model.decoder, prompt, settings, sampler, [&](int id) {
    if (id != end) show(stream.push(id));
  });
  show(std::string(nn::without_half_character(stream.flush())));
  write("\n");
  return text;
}

void chat(const ChatOptions& options) {
  if (options.threads != 0) set_thread_count(options.threads);
  options.sampler.validate();
  const nn::Model model = nn::load_any(options.model);
  const nn::ChatTemplate kind = template_of(options, model);
  const int end = nn::end_of_answer(kind, *model.tokenizer);
  const bool terminal = isatty(STDIN_FILENO) != 0;
  std::vector<nn::Message> messages;
  if (!options.system.empty()) messages.push_back({"system", options.system});
  const nn::Sampler sampler = nn::keep_first(nn::make_sampler(options.sampler, Rng(options.seed)), model.tokenizer->vocab_size());
  const auto next_line = [&](std::string& line) {
    if (terminal) std::fprintf(stderr, "> ");
    return static_cast<bool>(std::getline(std::cin, line)) && line != "/exit";
  };
  for (std::string line; next_line(line);) {
    if (line.empty()) continue;
    messages.push_back({"user", line});
    try {
      const std::vector<int> prompt = fitting_tokens(kind, model, messages, options.tokens);
      messages.push_back({"assistant", answer(options, model, end, prompt, sampler)});
    } catch (const ShapeError& problem) {  // this message cannot be said; the conversation goes on without it
      messages.pop_back();
      std::fprintf(stderr, "%s\n", problem.what());
    }
  }
}

}  // namespace gradus::tool
