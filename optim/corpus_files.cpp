// Which files a corpus is made of.
#include <algorithm>

#include "autograd/error.h"
#include "optim/corpus.h"

namespace gradus::optim {

namespace fs = std::filesystem;

static bool is_text(const fs::path& path) { return path.extension() == ".txt" || path.extension() == ".jsonl"; }

// Every file below a folder, in the order of the paths.
static std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error, unknown;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error))
    if (entry->is_regular_file(unknown)) files.push_back(entry->path());
  expect<FileError>(!error, "{}: the folder cannot be read: {}", folder.string(), error.message());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<fs::path> files_of(const Corpus& corpus) {
  std::vector<fs::path> files;
  for (const fs::path& path : corpus.paths) {
    std::error_code unknown;
    const fs::file_status status = fs::status(path, unknown);
    expect<FileError>(fs::exists(status), "{}: the text cannot be read: no such file or folder", path.string());
    expect<FileError>(fs::is_regular_file(status) || fs::is_directory(status),
                      "{}: expected a file or a folder, which can be read more than once, found neither", path.string());
    if (fs::is_regular_file(status)) {
      files.push_back(path);
      continue;
    }
    const std::size_t before = files.size();
    std::ranges::copy_if(files_below(path), std::back_inserter(files), is_text);
    expect<FileError>(files.size() > before, "{}: expected .txt or .jsonl files in this folder, found none", path.string());
  }
  return files;
}

std::vector<fs::path> left_out_of(const Corpus& corpus) {
  std::vector<fs::path> files;
  for (const fs::path& path : corpus.paths)
    if (fs::is_directory(path))
      std::ranges::copy_if(files_below(path), std::back_inserter(files), [](const fs::path& file) { return !is_text(file); });
  return files;
}

std::uint64_t bytes_of(const Corpus& corpus) {
  std::uint64_t bytes = 0;
  for (const fs::path& file : files_of(corpus)) bytes += fs::file_size(file);
  return bytes;
}

}  // namespace gradus::optim
