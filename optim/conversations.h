// Conversations to learn answers from, a line of a .jsonl file each:
//
//   {"messages": [{"role": "user", "content": "…"}, {"role": "assistant", "content": "…"}, …]}
//   {"conversations": [{"from": "human", "value": "…"}, {"from": "gpt", "value": "…"}, …]}
//
// Only what the assistant says is a target, with the token that ends it: a model that learns questions too asks some of its own,
// and one that never has to end an answer does not.
#pragma once

#include <filesystem>
#include <vector>

#include "nn/text/chat_template.h"
#include "optim/rows.h"

namespace gradus::optim {

// Errors (FileError), naming path and line: the file cannot be read; a line is not such an object; no line is.
std::vector<std::vector<nn::Message>> read_conversations(const std::filesystem::path& path);

struct ConversationRows {
  Rows rows;
  std::size_t cut;      // conversations longer than a row: the end is missing
  std::size_t left_out;  // of them, those that have no answer in their first context + 1 tokens
};

// One conversation a row. The last ones, about `validation_fraction` of them, are for validation.
// Errors: those of read_conversations and chat_tokens, with path and line, and there too a conversation in which the assistant
// says nothing; no conversation with an answer that fits.
ConversationRows conversation_rows(const std::vector<std::filesystem::path>& paths, nn::ChatTemplate kind,
                                   const nn::Tokenizer& tokenizer, std::size_t context, double validation_fraction,
                                   std::uint64_t seed);

}  // namespace gradus::optim
