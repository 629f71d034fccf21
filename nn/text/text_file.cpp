#include "nn/text/text_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "autograd/error.h"

namespace gradus::nn {

std::string read_text_file(const std::filesystem::path& path, std::string_view what) {
  std::error_code problem;
  expect<FileError>(!std::filesystem::is_directory(path, problem), "{}: expected {}, found: Is a directory", path.string(),
                    what);
  std::ifstream file(path, std::ios::binary);
  expect<FileError>(file.good(), "{}: expected {}, found: {}", path.string(), what, std::strerror(errno));
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace gradus::nn
