// What a chapter's page quotes of its program is what the program prints.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <regex>
#include <sstream>
#include <vector>

#include "tests/tool/tool.h"

static std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

// Words are equal; numbers may differ as they do from machine to machine, by a unit where they have one digit, and what is
// only rounding is told from what is more.
static bool alike(const std::string& quoted, const std::string& printed) {
  if (quoted == printed) return true;
  char *quoted_end = nullptr, *printed_end = nullptr;
  const double a = std::strtod(quoted.c_str(), &quoted_end), b = std::strtod(printed.c_str(), &printed_end);
  if (*quoted_end != '\0' || *printed_end != '\0') return false;
  const double larger = std::max(std::abs(a), std::abs(b));
  return larger < 1e-4 || std::abs(a - b) <= 0.5 * larger;
}

TEST_CASE("what a page quotes of its program is what the program prints, but for small differences of numbers") {
  // <!-- output: 15_real_weights -->, then a fence with some of its lines
  static const std::regex quotation("<!-- output: (\\S+) -->\n```\n([^`]*)```");
  const Folder folder;
  std::size_t quotations = 0;
  for (const auto& chapter : std::filesystem::directory_iterator(GRADUS_SOURCE_DIR "/chapters")) {
    const std::string page = contents((chapter.path() / "README.md").string());
    std::vector<std::string> printed;
    for (auto match = std::sregex_iterator(page.begin(), page.end(), quotation); match != std::sregex_iterator(); ++match) {
      const std::string program = (*match)[1];
      const std::vector<std::string> quoted = words_of((*match)[2]);
      CAPTURE(program);
      CAPTURE((*match)[2].str());
      if (printed.empty()) {
        CHECK(program == chapter.path().filename());
        CHECK(std::system((GRADUS_BIN_DIR "/" + program + " >" + folder / "printed").c_str()) == 0);
        printed = words_of(contents(folder / "printed"));
      }
      CHECK(!std::ranges::search(printed, quoted, [](const auto& a, const auto& b) { return alike(b, a); }).empty());
      ++quotations;
    }
  }
  CHECK(quotations > 10);
}
