#include "optim/gnuplot.h"

#include <cstdlib>
#include <fstream>

#include "autograd/error.h"

namespace gradus::optim {

std::string gnuplot_quoted(const std::string& text) {
  std::string quoted = "'";
  for (char c : text) quoted += c == '\'' ? "''" : std::string(1, c == '\n' ? ' ' : c);
  return quoted + "'";
}

static std::string shell_quoted(const std::string& text) {
  std::string quoted = "'";
  for (char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

void run_gnuplot(const std::filesystem::path& script, const std::string& text, const std::string& picture) {
  expect<FileError>(std::system("gnuplot --version > /dev/null 2>&1") == 0,
                    "{}: no picture: the program gnuplot is not installed (Debian: gnuplot-nox)", picture);
  std::ofstream file(script);
  file << text << std::flush;
  expect<FileError>(file.good(), "{}: no picture: cannot write {}", picture, script.string());
  const int status = std::system(("gnuplot < " + shell_quoted(script.string())).c_str());
  std::error_code ignored;
  std::filesystem::remove(script, ignored);
  expect<FileError>(status == 0, "{}: no picture: gnuplot failed", picture);
}

}  // namespace gradus::optim
