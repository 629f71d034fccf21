#include "optim/corpus.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "autograd/error.h"

namespace gradus::optim {

namespace fs = std::filesystem;
using Json = nlohmann::json;

static constexpr std::size_t piece_bytes = std::size_t{8} << 20;

std::vector<fs::path> files_of(const Corpus& corpus) {
  std::vector<fs::path> files;
  for (const fs::path& path : corpus.paths) {
    expect<FileError>(fs::exists(path), "{}: the text cannot be read: no such file or folder", path.string());
    if (!fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    const std::size_t before = files.size();
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path))
      if (entry.is_regular_file() && (entry.path().extension() == ".txt" || entry.path().extension() == ".jsonl"))
        files.push_back(entry.path());
    expect<FileError>(files.size() > before, "{}: expected .txt or .jsonl files in this folder, found none", path.string());
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end());
  }
  return files;
}

std::uint64_t bytes_of(const Corpus& corpus) {
  std::uint64_t bytes = 0;
  for (const fs::path& file : files_of(corpus)) bytes += fs::file_size(file);
  return bytes;
}

namespace {

// Collects lines into pieces, and knows whether the document that they belong to has any text.
class Pieces {
 public:
  explicit Pieces(const std::function<void(std::string_view, bool)>& each) : each_(each) {}

  void add(std::string_view text) {
    if (waiting_.size() + text.size() > piece_bytes && !waiting_.empty()) hand_on(false);
    waiting_ += text;
  }
  void end_document() {
    if (!waiting_.empty()) hand_on(true);
  }
  bool any() const { return any_; }

 private:
  void hand_on(bool ends) {
    each_(waiting_, ends);
    any_ = true;
    waiting_.clear();
  }

  const std::function<void(std::string_view, bool)>& each_;
  std::string waiting_;
  bool any_ = false;
};

}  // namespace

static void read_lines(std::ifstream& file, const std::string& separator, Pieces& pieces) {
  for (std::string line; std::getline(file, line);) {
    if (!separator.empty() && (line == separator || line == separator + "\r")) {
      pieces.end_document();
      continue;
    }
    if (!file.eof()) line += '\n';
    pieces.add(line);
  }
  pieces.end_document();
}

static void read_documents(std::ifstream& file, const std::string& path, Pieces& pieces) {
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const Json json = Json::parse(line, nullptr, false);
    expect<FileError>(json.is_object() && json.contains("text") && json["text"].is_string(),
                      "{}: expected line {} to be a JSON object with a \"text\", found {}", path, number,
                      json.is_discarded() ? "what is not JSON" : json.dump().substr(0, 60));
    pieces.add(json["text"].get<std::string>());
    pieces.end_document();
  }
}

static void read_file(const fs::path& path, const std::string& separator, Pieces& pieces) {
  std::ifstream file(path, std::ios::binary);
  expect<FileError>(file.good() && fs::is_regular_file(path), "{}: the text cannot be read", path.string());
  if (path.extension() == ".jsonl")
    read_documents(file, path.string(), pieces);
  else
    read_lines(file, separator, pieces);
  expect<FileError>(!file.bad(), "{}: reading it ended with an error", path.string());
}

void for_each_piece(const Corpus& corpus, const std::function<void(std::string_view, bool)>& each) {
  Pieces pieces(each);
  const std::vector<fs::path> files = files_of(corpus);
  for (const fs::path& file : files) read_file(file, corpus.separator, pieces);
  expect<FileError>(pieces.any(), "{}: the text is empty; there is nothing to learn from",
                    files.empty() ? "corpus" : files.front().string());
}

void encode(const Corpus& corpus, const nn::Tokenizer& tokenizer, const std::function<void(std::span<const int>)>& each) {
  for (const fs::path& file : files_of(corpus)) {
    try {
      for_each_piece({{file}, corpus.separator}, [&](std::string_view text, bool ends) {
        std::vector<int> ids = tokenizer.encode(text);
        if (const std::optional<int> end = tokenizer.end_token(); ends && end) ids.push_back(*end);
        each(ids);
      });
    } catch (const ShapeError& problem) {
      throw FileError(message("{}: {}", file.string(), problem.what()));
    }
  }
}

std::vector<int> encode(const Corpus& corpus, const nn::Tokenizer& tokenizer) {
  std::vector<int> ids;
  encode(corpus, tokenizer, [&](std::span<const int> piece) { ids.insert(ids.end(), piece.begin(), piece.end()); });
  return ids;
}

}  // namespace gradus::optim
