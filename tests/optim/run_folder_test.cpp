#include "optim/run_folder.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>

#include "autograd/error.h"
#include "tests/nn/temporary_folder.h"

using namespace gradus;
using namespace gradus::optim;

static void write_file(const std::filesystem::path& folder, const std::string& text = "x") {
  std::ofstream(folder / "file") << text;
}

static std::set<std::string> names_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

TEST_CASE("a run keeps its last two checkpoints and the best") {
  const TemporaryFolder folder;
  RunFolder run(folder / "run");
  CHECK_FALSE(RunFolder::has_checkpoint(folder / "run"));
  CHECK_THROWS_AS(run.latest(), FileError);
  for (const std::uint64_t step : {0, 100, 200, 300, 400, 1000000})
    run.save(step, step == 100, [](const auto& path) { write_file(path); });
  CHECK(run.latest() == folder / "run" / "step-1000000");
  CHECK(names_in(folder / "run") == std::set<std::string>{"best", "latest", "step-000100", "step-000400", "step-1000000"});
}

TEST_CASE("a checkpoint that cannot be written leaves the one before, and nothing of itself") {
  const TemporaryFolder folder;
  RunFolder run(folder.path());
  run.save(1, true, [](const auto& path) { write_file(path); });
  CHECK_THROWS_AS(run.save(2, true, [](const auto& path) { write_file(path); throw FileError("full"); }), FileError);
  CHECK(run.latest() == folder / "step-000001");
  CHECK(names_in(folder.path()) == std::set<std::string>{"best", "latest", "step-000001"});
}

TEST_CASE("what a killed program left half-written is removed, and never taken for a checkpoint") {
  const TemporaryFolder folder;
  RunFolder(folder.path()).save(1, false, [](const auto& path) { write_file(path); });
  std::filesystem::create_directory(folder / "step-000002.partial");
  write_file(folder / "step-000002.partial");
  std::filesystem::create_directory(folder / "step-000003");  // renamed, but never called the latest
  write_file(folder / "step-000003", "old");

  RunFolder run(folder.path());
  CHECK(run.latest() == folder / "step-000001");
  CHECK_FALSE(std::filesystem::exists(folder / "step-000002.partial"));
  run.save(3, false, [](const auto& path) { write_file(path, "new"); });
  std::ifstream file(folder / "step-000003" / "file");
  CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == "new");
}

TEST_CASE("the latest checkpoint is not written twice") {
  const TemporaryFolder folder;
  RunFolder run(folder.path());
  run.save(5, false, [](const auto& path) { write_file(path); });
  run.save(5, true, [](const auto&) { FAIL("written again"); });
  CHECK(names_in(folder.path()) == std::set<std::string>{"best", "latest", "step-000005"});
}

TEST_CASE("a folder that cannot be made is named with the system's reason") {
  const TemporaryFolder folder;
  folder.write("file", "x");
  CHECK_THROWS_WITH_AS(RunFolder(folder / "file" / "run"), doctest::Contains("/file/run: cannot make it: Not a directory"), FileError);
}
