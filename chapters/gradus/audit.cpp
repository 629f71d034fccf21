#include "chapters/gradus/audit.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "chapters/gradus/run_setup.h"
#include "nn/text/chat_template.h"
#include "optim/audit.h"

namespace gradus::tool {

static std::optional<int> end_of(const nn::Model& model, const std::string& kind) {
  if (kind != "chat") return model.tokenizer->end_token();
  nn::ChatTemplate chat_template{};
  nn::from_word(model.decoder.config.chat_template, chat_template);
  return nn::end_of_answer(chat_template, *model.tokenizer);
}

void audit(const AuditOptions& options) {
  TrainOptions data = options.data;
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / message("gradus-audit-{}", getpid());
  data.out = folder.string();  // for the tokens of a large text
  const RunSetup run = new_run(data);
  if (options.rows > 0) std::printf("%s\n", optim::audit_table(*run.data, options.rows, *run.model.tokenizer).c_str());
  constexpr std::size_t looked_at = 256;
  const std::optional<int> end = end_of(run.model, run.source.kind);
  const optim::Audit totals = optim::audit(*run.data, looked_at, end);
  std::printf("%s\n", message("in {} rows: {} tokens, {} targets that count", totals.rows, totals.tokens, totals.counted).c_str());
  std::printf("%s\n", (end ? message("the end token {} is a target {} times", *end, totals.end_targets)
                           : std::string("the tokenizer has no end token: a model will not learn where a text ends")).c_str());
  if (run.source.kind == "chat") std::printf("template %s\n", run.model.decoder.config.chat_template.c_str());
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

}  // namespace gradus::tool
