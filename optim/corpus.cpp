#include "optim/corpus.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "autograd/error.h"
#include "nn/json_text.h"
#include "nn/text/unicode.h"
#include "nn/text/utf8.h"

namespace gradus::optim {

namespace fs = std::filesystem;
using Json = nlohmann::json;

static constexpr std::size_t piece_bytes = std::size_t{8} << 20;
static constexpr std::size_t most_bytes = 8 * piece_bytes;

static bool is_jsonl(const fs::path& path) { return path.extension() == ".jsonl"; }

static bool begins_with_space(std::string_view text) {
  const nn::FirstCharacter first = nn::first_character(text);
  return first.state == nn::Utf8::whole && nn::character_kind(first.code) == nn::CharacterKind::space;
}

static bool ends_with_space(std::string_view text) {
  std::size_t begin = text.size() - 1;
  while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
  return begins_with_space(text.substr(begin));
}

// A line break is a token's end when it stands alone: several spaces may be split otherwise than each by itself.
static bool separable(std::string_view before, std::string_view after) {
  return before.size() >= 2 && !ends_with_space(before.substr(0, before.size() - 1)) && !begins_with_space(after);
}

namespace {

// Where a piece begins.
struct Place {
  std::uint64_t byte = 0;   // of a text file
  std::size_t line = 0;     // of a .jsonl file, from 1
  std::string text() const {
    return line > 0 ? message("line {}: ", line) : byte > 0 ? message("in the text from byte {} on: ", byte) : "";
  }
};

// Collects a file's lines into pieces.
class Pieces {
 public:
  Pieces(const fs::path& path, const std::function<void(const Piece&)>& each) : path_(path), each_(each) {}

  void add(std::string_view line, const Place& place) {
    const std::size_t together = waiting_.size() + line.size();
    if (together > most_bytes || (together > piece_bytes && separable(waiting_, line))) hand_on(false);
    if (waiting_.empty()) place_ = place;
    waiting_ += line;
  }
  void end_document() { hand_on(true); }
  bool any() const { return any_; }

 private:
  void hand_on(bool ends) {
    if (waiting_.empty()) return;
    try {
      each_({waiting_, begins_, ends});
    } catch (const ShapeError& problem) {
      throw FileError(message("{}: {}{}", path_.string(), place_, problem.what()));
    }
    any_ = true;
    begins_ = ends;
    waiting_.clear();
  }

  const fs::path& path_;
  const std::function<void(const Piece&)>& each_;
  std::string waiting_;
  Place place_;
  bool begins_ = true, any_ = false;
};

}  // namespace

// Returns whether there was a separator.
static bool read_lines(std::ifstream& file, const std::string& separator, Pieces& pieces) {
  bool separated = false;
  Place place;
  for (std::string line; std::getline(file, line);) {
    if (!file.eof()) line += '\n';
    if (const std::size_t end = line.find_last_not_of("\r\n") + 1;
        !separator.empty() && std::string_view(line).substr(0, end) == separator) {
      pieces.end_document();
      separated = true;
    } else {
      pieces.add(line, place);
    }
    place.byte += line.size();
  }
  pieces.end_document();
  return separated;
}

static std::string what_it_is(const Json& json) {
  if (json.is_discarded()) return "what is not JSON, or nested too deep";
  if (!json.is_object()) return message("JSON of the kind {}", json.type_name());
  if (!json.contains("text")) return "an object without one";
  return message("a \"text\" of the kind {}", json["text"].type_name());
}

static void read_documents(std::ifstream& file, const std::string& path, Pieces& pieces) {
  Place place;
  for (std::string line; std::getline(file, line);) {
    ++place.line;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const Json json = nn::parse_json(line);
    expect<FileError>(json.is_object() && json.contains("text") && json["text"].is_string(),
                      "{}: expected line {} to be a JSON object with a \"text\", found {}", path, place.line, what_it_is(json));
    pieces.add(json["text"].get_ref<const std::string&>(), place);
    pieces.end_document();
  }
}

void for_each_piece(const Corpus& corpus, const std::function<void(const Piece&)>& each) {
  bool any_text_file = false, separated = false;
  for (const fs::path& path : files_of(corpus)) {
    std::ifstream file(path, std::ios::binary);
    expect<FileError>(file.good(), "{}: the text cannot be read; is it yours to read?", path.string());
    Pieces pieces(path, each);
    if (is_jsonl(path)) {
      read_documents(file, path.string(), pieces);
    } else {
      any_text_file = true;
      separated = read_lines(file, corpus.separator, pieces) || separated;
    }
    expect<FileError>(!file.bad(), "{}: reading it ended with an error", path.string());
    expect<FileError>(pieces.any(), "{}: the text is empty; there is nothing to learn from", path.string());
  }
  expect<FileError>(corpus.separator.empty() || separated || !any_text_file,
                    "{}: expected the line {} between documents, found it in no text file; it must be all that is in its line",
                    corpus.paths.front().string(), corpus.separator);
}

}  // namespace gradus::optim
