// Compares the library with the reference numbers in a folder:  golden_test [--golden DIR]
//
// A line a file: its cases, its tensors compared, left out by a rule and not touched, and the largest error as a
// fraction of the tolerance. The exit status is 1 if anything differs or a file is of no known kind.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string_view>

#include "tests/golden/golden.h"

using namespace gradus::golden;

static void print(const std::string& form, const Report& report) {
  std::printf("%-24s %5zu %8zu %8zu %8zu   %-9.2g %s\n", form.c_str(), report.cases, report.comparisons,
              report.by_rule, report.skipped, report.worst, report.worst_at.c_str());
  for (const std::string& failure : report.failures) std::printf("  FAILED  %s\n", failure.c_str());
}

// Errors: the file is broken or of no known kind; both are among the report's failures.
static Report examine(const std::filesystem::path& path, std::string& form) {
  Report report;
  try {
    File file(path);
    form = file.form();
    const auto kind = std::ranges::find_if(kinds(), [&](const Kind& k) { return k.recognises(file); });
    if (kind == kinds().end()) {
      report.failures.push_back("there is no reader for files of this kind");
      return report;
    }
    try {
      kind->read(file);
      report = file.finish();
    } catch (const std::exception& error) {
      report = file.finish();
      report.failures.push_back(error.what());
    }
  } catch (const std::exception& error) {
    report.failures.push_back(error.what());
  }
  return report;
}

int main(int count, char** arguments) {
  std::filesystem::path folder = GRADUS_SHARED_DIR "/golden";
  if (count == 3 && std::string_view(arguments[1]) == "--golden") {
    folder = arguments[2];
  } else if (count != 1) {
    std::fprintf(stderr, "usage: golden_test [--golden DIR]\n");
    return 2;
  }
  if (!std::filesystem::is_directory(folder)) {
    std::printf("There is no folder %s, so there is nothing to compare with.\n", folder.c_str());
    return 0;
  }

  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".safetensors") paths.push_back(entry.path());
  std::ranges::sort(paths);

  std::printf("%-24s %5s %8s %8s %8s   %s\n", "file", "cases", "compared", "by rule", "skipped", "worst/tolerance");
  Report total;
  std::size_t failed_files = 0;
  for (const std::filesystem::path& path : paths) {
    std::string form = path.stem().string();
    const Report report = examine(path, form);
    print(form, report);
    total.cases += report.cases;
    total.comparisons += report.comparisons;
    total.by_rule += report.by_rule;
    total.skipped += report.skipped;
    if (report.worst > total.worst) {
      total.worst = report.worst;
      total.worst_at = form + " " + report.worst_at;
    }
    failed_files += report.failures.empty() ? 0 : 1;
  }
  print("all", total);
  if (failed_files > 0) std::printf("%zu of %zu files differ.\n", failed_files, paths.size());
  return failed_files > 0 ? 1 : 0;
}
