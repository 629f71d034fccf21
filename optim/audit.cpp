#include "optim/audit.h"

#include <algorithm>

#include "autograd/error.h"
#include "autograd/ops/cross_entropy.h"
#include "nn/text/utf8.h"

namespace gradus::optim {

static Batch next_rows(Data& data, std::size_t rows) {
  const std::vector<std::uint64_t> state = data.state();
  Batch batch = data.training(rows);
  data.restore(state);
  return batch;
}

Audit audit(Data& data, std::size_t rows, std::optional<int> end_token) {
  const Batch batch = next_rows(data, rows);
  Audit result{.rows = batch.rows, .tokens = batch.inputs.size(), .counted = batch.counted()};
  if (end_token)
    result.end_targets = static_cast<std::size_t>(std::count(batch.targets.begin(), batch.targets.end(), *end_token));
  return result;
}

void expect_supervision(Rows& rows, int end_token) {
  const std::size_t looked_at = std::min<std::size_t>(1000, rows.training_rows());
  expect(rows.padding() != end_token, "audit: padding and end token have the same id, {}; give padding another", end_token);
  expect(audit(rows, looked_at, end_token).end_targets > 0,
         "audit: the end token {} is never a target in {} rows: a model that learns from them never stops. Is every row cut before "
         "its end? Then use a longer context", end_token, looked_at);
}

std::string audit_table(Data& data, std::size_t rows, const nn::Tokenizer& tokenizer) {
  const Batch batch = next_rows(data, rows);
  const std::size_t time = batch.inputs.size() / batch.rows;
  const auto show = [&](int id) {
    return message("{:>6} {:<14}", id, '"' + nn::escaped(tokenizer.decode(std::span(&id, 1))) + '"');
  };
  std::string table;
  for (std::size_t row = 0; row < batch.rows; ++row) {
    table += message("row {}\n token                 | target                | counted\n", row);
    for (std::size_t t = row * time; t < (row + 1) * time; ++t) {
      const bool counted = batch.targets[t] != ignore_index;
      table += message("{} | {} | {}\n", show(batch.inputs[t]), counted ? show(batch.targets[t]) : std::string(21, ' '),
                       counted ? "yes" : "");
    }
  }
  return table;
}

}  // namespace gradus::optim
