// Runs the gradient checks.
//
//   grad_checks [OP …]             a line an op: error, cases, shapes; exit 1 if one fails
//   grad_checks --must-reject OP   exit 0 only if OP's check fails: for programs with a planted bug
//   grad_checks --covers FOLDER    exit 1 if an op is recorded in the sources and has no check
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>

#include "autograd/error.h"
#include "tests/grad/check.h"

namespace gradus::test {

static std::map<std::string, void (*)(CheckTable&), std::less<>>& registry() {
  static std::map<std::string, void (*)(CheckTable&), std::less<>> checks;
  return checks;
}

RegisteredCheck::RegisteredCheck(std::string_view op, void (*run)(CheckTable&)) { registry().emplace(op, run); }

void CheckTable::check(const std::vector<NamedTensor>& inputs, const std::function<Tensor()>& f,
                       const GradCheckOptions& options) {
  if (cases++ < 2) {
    shapes += cases == 1 ? "" : " | ";
    constexpr std::size_t most = 4;
    for (std::size_t i = 0; i < std::min(inputs.size(), most); ++i)
      shapes += message("{}{} ", inputs[i].name, inputs[i].tensor.shape());
    if (inputs.size() > most) shapes += message("and {} more ", inputs.size() - most);
  }
  const GradCheckResult result = gradcheck(op_, inputs, f, options);
  error = std::max(error, result.error);
  if (failure.empty()) failure = result.failure;
}

static CheckTable run(const std::string& op) {
  const auto entry = registry().find(op);
  expect(entry != registry().end(), "there is no gradient check of {}", op);
  CheckTable table(op);
  try {
    entry->second(table);
  } catch (const std::exception& problem) {
    table.failure = message("{}: the check could not run: {}", op, problem.what());
  }
  if (table.failure.empty() && table.cases == 0) table.failure = op + ": the check has no case";
  return table;
}

static int run_all(const std::vector<std::string>& ops) {
  int failed = 0;
  std::printf("%-22s %10s %6s  %s\n", "op", "error", "cases", "shapes (the first two cases)");
  for (const std::string& op : ops) {
    const CheckTable table = run(op);
    std::printf("%-22s %10.2e %6zu  %s\n", op.c_str(), table.error, table.cases, table.shapes.c_str());
    if (table.failure.empty()) continue;
    ++failed;
    std::printf("  FAILED %s\n", table.failure.c_str());
  }
  std::printf("%zu gradient checks, %d failed\n", ops.size(), failed);
  return failed == 0 ? 0 : 1;
}

// The name an op passes to record is the first text in the call; a helper that records for others takes it as `op`.
static std::set<std::string> recorded_ops(const std::filesystem::path& folder) {
  static const std::regex call(R"re(\b(record|pointwise)\(([^;"]*)"([a-z0-9_]+)")re");
  std::set<std::string> names;
  for (const char* part : {"autograd", "nn", "optim"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / part)) {
      if (entry.path().extension() != ".cpp") continue;
      std::ifstream file(entry.path());
      const std::string text((std::istreambuf_iterator<char>(file)), {});
      for (auto match = std::sregex_iterator(text.begin(), text.end(), call); match != std::sregex_iterator(); ++match)
        names.insert((*match)[3]);
    }
  return names;
}

static int covers(const std::filesystem::path& folder) {
  const std::set<std::string> names = recorded_ops(folder);
  int missing = 0;
  for (const std::string& name : names)
    if (!registry().contains(name)) {
      ++missing;
      std::printf("%s is recorded and has no gradient check: add GRAD_CHECK(%s) to tests/grad\n", name.c_str(), name.c_str());
    }
  std::printf("%zu recorded ops, %d without a check\n", names.size(), missing);
  return missing == 0 && !names.empty() ? 0 : 1;
}

}  // namespace gradus::test

int main(int count, char** words) {
  using namespace gradus::test;
  std::vector<std::string> arguments(words + 1, words + count);
  try {
    if (arguments.size() == 2 && arguments[0] == "--covers") return covers(arguments[1]);
    if (arguments.size() == 2 && arguments[0] == "--must-reject") {
      const CheckTable table = run(arguments[1]);
      std::printf("%s\n", table.failure.empty() ? "NOT NOTICED" : table.failure.c_str());
      return table.failure.empty() || table.failure.find("could not run") != std::string::npos ? 1 : 0;
    }
    if (arguments.empty())
      for (const auto& [op, function] : registry()) arguments.push_back(op);
    return run_all(arguments);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "grad_checks: %s\n", problem.what());
    return 2;
  }
}
