// Rules about the sources themselves.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

struct Source {
  std::string path;  // from the root: "autograd/gemm.cpp"
  std::string text;
  bool matches(const char* pattern) const { return std::regex_search(text, std::regex(pattern)); }
};

std::vector<Source> sources(const std::vector<std::string>& folders) {
  const std::filesystem::path root = GRADUS_SOURCE_DIR;
  std::vector<Source> found;
  for (const std::string& folder : folders)
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
      std::ifstream file(entry.path());
      found.push_back({entry.path().lexically_relative(root).generic_string(),
                       std::string(std::istreambuf_iterator<char>(file), {})});
    }
  return found;
}

const std::vector<Source>& library() {
  static const std::vector<Source> all = sources({"autograd", "nn", "optim"});
  return all;
}

// The files in which the pattern occurs.
std::set<std::string> files_with(const char* pattern) {
  std::set<std::string> files;
  for (const Source& source : library())
    if (source.matches(pattern)) files.insert(source.path);
  return files;
}

using Files = std::set<std::string>;

}  // namespace

TEST_CASE("The scan sees the library") { CHECK(library().size() > 30); }

TEST_CASE("An include never points up: autograd, nn, optim, chapters") {
  const auto expect_none = [](const char* folder, const char* pattern) {
    for (const Source& source : sources({folder})) CHECK_MESSAGE(!source.matches(pattern), source.path);
  };
  expect_none("autograd", "#include [\"<](nn|optim|chapters)/");
  expect_none("nn", "#include [\"<](optim|chapters)/");
  expect_none("optim", "#include [\"<]chapters/");
}

TEST_CASE("Includes of our own files are relative to the root") {
  for (const Source& source : library())
    CHECK_MESSAGE(!source.matches("#include \"(?!(autograd|nn|optim)/)"), source.path);
}

TEST_CASE("Every header is guarded") {
  for (const Source& source : library())
    if (source.path.ends_with(".h")) CHECK_MESSAGE(source.matches("#pragma once"), source.path);
}

TEST_CASE("One file knows BLAS, one OpenMP's regions, one the formatting library") {
  CHECK(files_with("cblas\\.h") == Files{"autograd/gemm.cpp"});
  CHECK(files_with("#include <omp\\.h>") == Files{"autograd/parallel.h"});
  CHECK(files_with("#pragma omp parallel") == Files{"autograd/parallel.cpp", "autograd/parallel.h"});
  CHECK(files_with("#include <fmt/") == Files{"autograd/error.cpp"});
}

TEST_CASE("Random numbers come from our own generator alone") {
  CHECK(files_with("std::(normal|uniform_real|uniform_int|discrete|bernoulli)_distribution") == Files{});
  CHECK(files_with("std::(random_device|mt19937|shuffle)|\\bs?rand\\(") == Files{});
}

TEST_CASE("What backward reads is listed: no lambda given to record captures everything, and none its output") {
  const std::regex call(R"(\brecord\(\s*([a-z_0-9]+),\s*[^\[;]*\[([^\]]*)\])");
  std::size_t calls = 0;
  for (const Source& source : library())
    for (std::sregex_iterator at(source.text.begin(), source.text.end(), call); at != std::sregex_iterator(); ++at) {
      if (source.path == "autograd/graph.h") continue;
      ++calls;
      const std::string output = (*at)[1], captures = (*at)[2];
      CHECK_MESSAGE(!std::regex_search(captures, std::regex(R"((^|,)\s*[=&])")), source.path, ": [", captures, "]");
      CHECK_MESSAGE(!std::regex_search(captures, std::regex("(^|[ ,=(])" + output + "([ ,)]|$)")), source.path, ": [",
                    captures, "] captures the output ", output);
    }
  CHECK(calls > 5);
}

TEST_CASE("A listing in a chapter is the source's own text") {
  // <!-- code: autograd/ops/rms_norm.cpp rms_norm -->, then a fence with the whole definition
  static const std::regex listing("<!-- code: (\\S+) (\\S+) -->\n```cpp\n([^`]*)```");
  const std::filesystem::path root = GRADUS_SOURCE_DIR;
  const auto contents = [](const std::filesystem::path& path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  std::size_t listings = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "chapters")) {
    if (entry.path().extension() != ".md") continue;
    const std::string page = contents(entry.path());
    for (auto match = std::sregex_iterator(page.begin(), page.end(), listing); match != std::sregex_iterator(); ++match) {
      ++listings;
      const std::string name = (*match)[2], code = (*match)[3];
      CAPTURE(name);
      CHECK(code.find(name + "(") != std::string::npos);
      CHECK(contents(root / (*match)[1].str()).find(code) != std::string::npos);
    }
  }
  CHECK(listings >= 2);
}
