#include "optim/conversations.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "autograd/error.h"
#include "nn/json_text.h"

namespace gradus::optim {

using Json = nlohmann::json;

// A member of either name, as a text.
static std::string text_of(const Json& json, const char* name, const char* other_name) {
  const auto found = json.contains(name) ? json.find(name) : json.find(other_name);
  expect(found != json.end() && found->is_string(), "a message needs \"{}\" (or \"{}\"), a text", name, other_name);
  return found->get<std::string>();
}

static std::vector<nn::Message> conversation_of(const std::string& line) {
  const Json json = nn::parse_json(line);
  expect(json.is_object(), "expected a JSON object, found something else");
  const auto list = json.contains("messages") ? json.find("messages") : json.find("conversations");
  expect(list != json.end() && list->is_array() && !list->empty(), "expected \"messages\" or \"conversations\", a list of messages");
  std::vector<nn::Message> messages;
  for (const Json& entry : *list) {
    expect(entry.is_object(), "a message must be an object, not {}", entry.type_name());
    std::string role = text_of(entry, "role", "from");
    if (role == "human") role = "user";
    if (role == "gpt") role = "assistant";
    messages.push_back({role, text_of(entry, "content", "value")});
  }
  return messages;
}

// Calls each(conversation) for every line, and says the path and the line of what goes wrong in it.
static void for_each_conversation(const std::filesystem::path& path, auto&& each) {
  std::ifstream file(path, std::ios::binary);
  expect<FileError>(file.good() && std::filesystem::is_regular_file(path), "{}: the conversations cannot be read", path.string());
  std::size_t number = 0, found = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      each(conversation_of(line));
    } catch (const ShapeError& problem) {
      throw FileError(message("{}: line {}: {}", path.string(), number, problem.what()));
    }
    ++found;
  }
  expect<FileError>(found > 0, "{}: holds no conversation; there is nothing to learn from", path.string());
}

std::vector<std::vector<nn::Message>> read_conversations(const std::filesystem::path& path) {
  std::vector<std::vector<nn::Message>> list;
  for_each_conversation(path, [&](std::vector<nn::Message> messages) { list.push_back(std::move(messages)); });
  return list;
}

ConversationRows conversation_rows(const std::vector<std::filesystem::path>& paths, nn::ChatTemplate kind,
                                   const nn::Tokenizer& tokenizer, std::size_t context, double validation_fraction,
                                   std::uint64_t seed) {
  expect(validation_fraction >= 0 && validation_fraction < 1,
         "conversations: the validation part must be a fraction in [0, 1), not {}", validation_fraction);
  std::vector<Example> examples;
  std::size_t cut = 0, left_out = 0;
  for (const std::filesystem::path& path : paths)
    for_each_conversation(path, [&](const std::vector<nn::Message>& messages) {
      nn::ChatTokens chat = nn::chat_tokens(kind, tokenizer, messages);
      const auto has_answer = [&] { return std::find(chat.answer.begin(), chat.answer.end(), true) != chat.answer.end(); };
      expect(has_answer(), "the assistant says nothing, so no target would count; add its answer or take the line out");
      if (chat.ids.size() > context + 1) {
        ++cut;
        chat.ids.resize(context + 1);
        chat.answer.resize(context + 1);
      }
      if (has_answer())
        examples.push_back({std::move(chat.ids), std::move(chat.answer)});
      else
        ++left_out;
    });
  expect(!examples.empty(), "conversations: none of {} has an answer in its first {} tokens; use a longer context", left_out,
         context + 1);
  const auto kept = static_cast<std::ptrdiff_t>(static_cast<double>(examples.size()) * validation_fraction);
  std::vector<Example> validation(examples.end() - kept, examples.end());
  examples.erase(examples.end() - kept, examples.end());
  const int padding = nn::end_of_answer(kind, tokenizer) == 0 ? 1 : 0;
  return {Rows(std::move(examples), std::move(validation), context, seed, padding), cut, left_out};
}

}  // namespace gradus::optim
