// A conversation as one text that a model continues: who speaks is said by special tokens or by words.
//
//   chatml   <|im_start|>user⏎question<|im_end|>⏎<|im_start|>assistant⏎answer<|im_end|>⏎
//   llama2   <s>[INST] <<SYS>>⏎system⏎<</SYS>>⏎⏎question [/INST] answer </s>
//   plain    user: question⏎assistant: answer⏎                          for any tokenizer, bytes and characters too
//
// What people write is always encoded as text: a message that spells a special token does not become one, so nobody ends an
// answer or speaks for another by what he writes. `plain` and the words of `llama2` have no such protection but that
// messages with those words are refused.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nn/text/tokenizer.h"

namespace gradus::nn {

enum class ChatTemplate { none, chatml, llama2, plain };

std::string_view word_of(ChatTemplate kind);
void from_word(std::string_view word, ChatTemplate& kind);  // errors: no such word, listing those there are

struct Message {
  std::string role;  // system, user or assistant
  std::string content;
};

struct ChatTokens {
  std::vector<int> ids;
  std::vector<bool> answer;  // is the id part of what the assistant says, the token that ends it included?
};

// The token that ends an answer: <|im_end|>; </s>; with `plain` the tokenizer's end token or, where it has none, the line
// break.
// Errors here and below: no template; a tokenizer without the template's special tokens.
int end_of_answer(ChatTemplate kind, const Tokenizer& tokenizer);

// The conversation's ids. With `open`, the next words are the assistant's: what a model is given to answer.
// Errors: an unknown role; no message; a system message that is not the first; user and assistant not in turn, with
// `llama2`; a content that the template cannot express, saying why.
ChatTokens chat_tokens(ChatTemplate kind, const Tokenizer& tokenizer, std::span<const Message> messages, bool open = false);

// Other projects keep a template as a program in the language Jinja. It is not run, but recognised by the special words in it.
// Errors: it is none of ours.
ChatTemplate recognise_chat_template(std::string_view jinja);

}  // namespace gradus::nn
