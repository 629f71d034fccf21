#include "nn/text/chat_template.h"

#include <array>
#include <utility>

#include "autograd/error.h"
#include "nn/words.h"

namespace gradus::nn {

static constexpr std::array kinds = {Word{ChatTemplate::none, "none"}, Word{ChatTemplate::chatml, "chatml"},
                                     Word{ChatTemplate::llama2, "llama2"}, Word{ChatTemplate::plain, "plain"}};

std::string_view word_of(ChatTemplate kind) { return word_in(kinds, kind); }
void from_word(std::string_view word, ChatTemplate& kind) { choose("chat template", kinds, word, kind); }

static int special(const Tokenizer& tokenizer, ChatTemplate kind, std::string_view text) {
  for (const SpecialToken& token : tokenizer.special_tokens())
    if (token.text == text) return token.id;
  throw ShapeError(message("chat template: {} needs the special token {}, which the tokenizer {} does not have; `plain` works "
                           "with every tokenizer", word_of(kind), text, tokenizer.name()));
}

int end_of_answer(ChatTemplate kind, const Tokenizer& tokenizer) {
  expect(kind != ChatTemplate::none, "chat template: the model has none; name one: chatml, llama2 or plain");
  if (kind == ChatTemplate::chatml) return special(tokenizer, kind, "<|im_end|>");
  if (kind == ChatTemplate::llama2) return special(tokenizer, kind, "</s>");
  if (const std::optional<int> end = tokenizer.end_token()) return *end;
  const std::vector<int> line_break = tokenizer.encode("\n");
  expect(line_break.size() == 1, "chat template: plain needs an end token or a line break that is one token; the tokenizer {} "
         "makes it {}", tokenizer.name(), line_break.size());
  return line_break[0];
}

namespace {

// Puts a conversation together, part by part.
class Writer {
 public:
  explicit Writer(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  void text(std::string_view text, bool answer = false) {
    std::vector<int> ids = tokenizer_.encode(text);
    if (!ids.empty() && ids[0] == tokenizer_.begin_token()) ids.erase(ids.begin());
    for (int id : ids) token(id, answer);
  }
  void token(int id, bool answer = false) {
    result_.ids.push_back(id);
    result_.answer.push_back(answer);
  }
  ChatTokens take() { return std::move(result_); }

 private:
  const Tokenizer& tokenizer_;
  ChatTokens result_;
};

}  // namespace

static void check_roles(std::span<const Message> messages) {
  expect(!messages.empty(), "chat template: a conversation needs at least one message");
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::string& role = messages[i].role;
    expect(role == "system" || role == "user" || role == "assistant",
           "chat template: message {} is of the role {}; there are system, user and assistant", i, role);
    expect(role != "system" || i == 0, "chat template: message {} is a system message; only the first can be one", i);
  }
}

static void expect_without(ChatTemplate kind, const Message& part, std::size_t number, std::string_view words_of_template) {
  expect(part.content.find(words_of_template) == std::string::npos,
         "chat template: message {} has {} in its text, which would speak for another with the template {}", number,
         words_of_template == "\n" ? "a line break" : words_of_template, word_of(kind));
}

static ChatTokens chatml(const Tokenizer& tokenizer, std::span<const Message> messages, bool open) {
  const int start = special(tokenizer, ChatTemplate::chatml, "<|im_start|>");
  const int end = special(tokenizer, ChatTemplate::chatml, "<|im_end|>");
  Writer writer(tokenizer);
  for (const auto& [role, content] : messages) {
    const bool answer = role == "assistant";
    writer.token(start);
    writer.text(role + "\n");
    writer.text(content, answer);
    writer.token(end, answer);
    writer.text("\n");
  }
  if (open) {
    writer.token(start);
    writer.text("assistant\n");
  }
  return writer.take();
}

// Without the white space at both ends, as Llama 2's own template has it.
static std::string_view trimmed(std::string_view text) {
  constexpr std::string_view white = " \t\r\n";
  const std::size_t first = text.find_first_not_of(white);
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(white) + 1 - first);
}

static ChatTokens llama2(const Tokenizer& tokenizer, std::span<const Message> messages, bool open) {
  const int begin = special(tokenizer, ChatTemplate::llama2, "<s>"), end = special(tokenizer, ChatTemplate::llama2, "</s>");
  Writer writer(tokenizer);
  std::string system;
  bool users_turn = true;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::string& role = messages[i].role;
    const std::string content(trimmed(messages[i].content));
    for (const char* taken : {"[INST]", "[/INST]", "<<SYS>>", "<</SYS>>"})
      if (role != "assistant") expect_without(ChatTemplate::llama2, messages[i], i, taken);
    if (role == "system") {
      system = "<<SYS>>\n" + content + "\n<</SYS>>\n\n";
      continue;
    }
    expect((role == "user") == users_turn, "chat template: message {} is the {}'s, but with llama2 user and assistant take turns, "
           "and the user begins", i, role);
    if (role == "user") {
      writer.token(begin);
      writer.text("[INST] " + std::exchange(system, "") + content + " [/INST]");
    } else {
      writer.text(" " + content + " ", true);
      writer.token(end, true);
    }
    users_turn = !users_turn;
  }
  expect(!open || !users_turn, "chat template: the assistant can only answer a user's message, which must be the last one");
  return writer.take();
}

static ChatTokens plain(const Tokenizer& tokenizer, std::span<const Message> messages, bool open) {
  const int end = end_of_answer(ChatTemplate::plain, tokenizer);
  const bool lines = !tokenizer.end_token();  // a message is a line
  Writer writer(tokenizer);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const auto& [role, content] = messages[i];
    if (lines) expect_without(ChatTemplate::plain, messages[i], i, "\n");
    const bool answer = role == "assistant";
    writer.text(role + ": ");
    writer.text(content, answer);
    writer.token(end, answer);
    if (!lines) writer.text("\n");
  }
  if (open) writer.text("assistant: ");
  return writer.take();
}

ChatTokens chat_tokens(ChatTemplate kind, const Tokenizer& tokenizer, std::span<const Message> messages, bool open) {
  end_of_answer(kind, tokenizer);
  check_roles(messages);
  if (kind == ChatTemplate::chatml) return chatml(tokenizer, messages, open);
  if (kind == ChatTemplate::llama2) return llama2(tokenizer, messages, open);
  return plain(tokenizer, messages, open);
}

ChatTemplate recognise_chat_template(std::string_view jinja) {
  const auto has = [&](std::string_view text) { return jinja.find(text) != std::string_view::npos; };
  if (has("<|im_start|>") && has("<|im_end|>")) return ChatTemplate::chatml;
  if (has("[INST]") && has("[/INST]") && has("<<SYS>>")) return ChatTemplate::llama2;
  throw ShapeError(message("chat template: this one is neither chatml (<|im_start|>, <|im_end|>) nor llama2 ([INST], [/INST], "
                           "<<SYS>>), and templates are not run as programs; it begins with {}", jinja.substr(0, 60)));
}

}  // namespace gradus::nn
