#include "nn/atomic_file.h"

#include <doctest/doctest.h>

#include <fstream>
#include <vector>

#include "autograd/error.h"
#include "tests/nn/temporary_folder.h"

#if __has_include(<sys/resource.h>)
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#define GRADUS_POSIX_TESTS
#endif

using namespace gradus;
using namespace gradus::nn;

static std::string contents(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST_CASE("an atomic file replaces its target at commit and not before") {
  const TemporaryFolder folder;
  const auto path = folder.write("x", "old");
  {
    AtomicFile file(path);
    file.write("new", 3);
    CHECK(contents(path) == "old");
    file.commit();
  }
  CHECK(contents(path) == "new");
  CHECK(!std::filesystem::exists(path.string() + ".partial"));
}

TEST_CASE("an atomic file that is not committed leaves the target, and nothing beside it") {
  const TemporaryFolder folder;
  const auto path = folder.write("x", "old");
  AtomicFile(path).write("new", 3);
  CHECK(contents(path) == "old");
  CHECK(!std::filesystem::exists(path.string() + ".partial"));
}

TEST_CASE("an atomic file says why it cannot be written") {
  const TemporaryFolder folder;
  const std::string nowhere = (folder / "no/folder").string();
  CHECK_THROWS_WITH_AS(AtomicFile{nowhere},
                       (nowhere + ": cannot create it: No such file or directory; the file of that name is as it was "
                                  "before").c_str(),
                       FileError);
  const auto directory = folder / "directory";
  std::filesystem::create_directories(directory / "full");
  AtomicFile file(directory);
  CHECK_THROWS_AS(file.commit(), FileError);
}

#ifdef GRADUS_POSIX_TESTS
// A limit on the size of files fails a write just as a full disk does.
TEST_CASE("an atomic file that does not fit on the disk is an error, and the old one stays") {
  const TemporaryFolder folder;
  const auto path = folder.write("x", "old");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 100'000;
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  const std::vector<char> bytes(100'001);
  bool refused = false;
  try {
    AtomicFile file(path);
    file.write(bytes.data(), bytes.size());
    file.commit();
  } catch (const FileError&) {
    refused = true;
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(refused);
  CHECK(contents(path) == "old");
  CHECK(!std::filesystem::exists(path.string() + ".partial"));
}

TEST_CASE("a program killed while it saves leaves a whole file") {
  const TemporaryFolder folder;
  const auto path = folder / "x";
  const std::vector<char> bytes(1'000'000, 'a');
  for (int attempt = 0; attempt < 10; ++attempt) {
    const pid_t child = fork();
    if (child == 0)
      for (;;) {
        AtomicFile file(path);
        file.write(bytes.data(), bytes.size());
        file.commit();
      }
    usleep(static_cast<useconds_t>(20'000 + 3'137 * attempt));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    if (std::filesystem::exists(path)) REQUIRE(std::filesystem::file_size(path) == bytes.size());
  }
}
#endif
