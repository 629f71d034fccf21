// What a model is really taught: the first thing to look at when it learns something else.
#pragma once

#include <optional>
#include <string>

#include "nn/text/tokenizer.h"
#include "optim/data.h"
#include "optim/rows.h"

namespace gradus::optim {

struct Audit {
  std::size_t rows = 0;
  std::size_t tokens = 0;       // to read, padding included
  std::size_t counted = 0;      // targets
  std::size_t end_targets = 0;  // of them, the end token
};

// Of the next rows that training would take, which it will still take.
Audit audit(Data& data, std::size_t rows, std::optional<int> end_token);

// Errors: among the first thousand rows the end token is never a target, so that the model would never learn to stop; padding
// has the end token's id, so that whoever hides padding by its id hides every end too.
void expect_supervision(Rows& rows, int end_token);

// The next rows, a line a token: token | target | counted. Ids and their text, escaped.
std::string audit_table(Data& data, std::size_t rows, const nn::Tokenizer& tokenizer);

}  // namespace gradus::optim
