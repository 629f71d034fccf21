// Runs that end before their time, and go on.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "nn/checkpoint.h"
#include "optim/checkpoint.h"
#include "optim/metrics.h"
#include "tests/tool/tool.h"

namespace fs = std::filesystem;

static std::string small(const Folder& folder) {
  return folder.short_text() + " --preset book --steps 40 --batch 2 --context 16 --eval-every 20 --threads 1";
}

static pid_t begin(const Folder& folder, const std::string& arguments) {
  const std::string command = "exec " + tool + " " + arguments + " 2>" + folder / "err";
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  return child;
}

static int end_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void wait_for(const fs::path& path) {
  for (int i = 0; i < 2000 && !fs::exists(path); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

// The bytes of the latest checkpoint, but for the seconds that it took.
static std::map<std::string, std::string> latest(const fs::path& run) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(gradus::nn::resolve_checkpoint(run))) {
    std::string bytes = contents(entry.path().string());
    if (const std::size_t seconds = bytes.find("\"seconds\""); seconds != std::string::npos)
      bytes.erase(seconds, bytes.find('\n', seconds) - seconds);
    files[entry.path().filename().string()] = bytes;
  }
  return files;
}

static std::vector<double> losses(const fs::path& run) {
  std::vector<double> list;
  for (const gradus::optim::Metrics& row : gradus::optim::read_metrics(run / "metrics.csv")) list.push_back(row.loss);
  return list;
}

TEST_CASE("a run that is interrupted finishes its step, saves and exits with 0, and then goes on as if it never had been") {
  for (const int signal : {SIGINT, SIGTERM}) {
    const Folder folder;
    REQUIRE(run(folder, "train --out " + folder / "straight" + small(folder)).code == 0);
    const pid_t child = begin(folder, "train --save-every 1 --out " + folder / "run" + small(folder));
    wait_for(folder.path / "run/step-000003");
    kill(child, signal);
    CHECK(end_of(child) == 0);
    CHECK(contents(folder / "err").find("goes on") != std::string::npos);
    CHECK(losses(folder.path / "run").size() == gradus::optim::read_run(gradus::nn::resolve_checkpoint(folder.path / "run")).state.step);

    const Result resumed = run(folder, "train --threads 1 --resume " + folder / "run");
    CHECK(resumed.code == 0);
    CHECK(latest(folder.path / "run") == latest(folder.path / "straight"));
    CHECK(losses(folder.path / "run") == losses(folder.path / "straight"));
  }
}

TEST_CASE("killed at any moment, a run leaves a checkpoint that loads, and the resumed run equals the straight one") {
  const Folder folder;
  REQUIRE(run(folder, "train --out " + folder / "straight" + small(folder)).code == 0);
  const std::string saving = "train --save-every 1 --out " + folder / "run" + small(folder);
  const auto begin_anew = [&] {
    fs::remove_all(folder.path / "run");
    const pid_t child = begin(folder, saving);
    wait_for(folder.path / "run/latest");
    return child;
  };
  const pid_t whole = begin_anew();
  const auto start = std::chrono::steady_clock::now();
  REQUIRE(end_of(whole) == 0);
  const std::chrono::duration<double> length = std::chrono::steady_clock::now() - start;

  constexpr int kills = 20;
  int early = 0;
  std::mt19937 random(7);  // when it is killed does not have to be the same everywhere
  for (int i = 0; i < kills; ++i) {
    CAPTURE(i);
    const pid_t child = begin_anew();
    std::this_thread::sleep_for(length * std::uniform_real_distribution<>(0, 0.9)(random));
    kill(child, SIGKILL);
    early += end_of(child) == -SIGKILL;
    CHECK_NOTHROW(gradus::nn::load_model(folder.path / "run"));
    REQUIRE(run(folder, "train --save-every 1 --threads 1 --resume " + folder / "run").code == 0);
    CHECK(latest(folder.path / "run") == latest(folder.path / "straight"));
    CHECK(losses(folder.path / "run") == losses(folder.path / "straight"));
    for (const auto& entry : fs::directory_iterator(folder.path / "run"))
      CHECK(entry.path().string().find(".partial") == std::string::npos);
  }
  CHECK(early > kills / 2);
}

namespace {

// A disk of 1 MB, where the user may mount one.
struct SmallDisk {
  std::string path;
  bool mounted;
  explicit SmallDisk(const std::string& folder) : path(folder) {
    fs::create_directory(path);
    mounted = mount("none", path.c_str(), "tmpfs", 0, "size=1m") == 0;
  }
  ~SmallDisk() {
    if (mounted) umount(path.c_str());
  }
  bool grow() const { return mount("none", path.c_str(), "tmpfs", MS_REMOUNT, "size=8m") == 0; }
};

}  // namespace

TEST_CASE("a full disk leaves the old checkpoint as it was and is an error with the path") {
  const Folder folder;
  const SmallDisk mounted(folder / "disk");
  if (!mounted.mounted) {
    MESSAGE("skipped: only root can mount a disk of 1 MB");
    return;
  }
  const std::string& disk = mounted.path;
  // About 320 kB a checkpoint, of which up to four are there at a time.
  const Result full = run(folder, "train --save-every 1 --out " + disk + "/run" + small(folder));
  CHECK(full.code == 1);
  CHECK(full.err.find(disk + "/run/") != std::string::npos);
  CHECK(full.err.find("No space left on device") != std::string::npos);
  CHECK_NOTHROW(gradus::nn::load_model(disk + "/run"));

  REQUIRE(mounted.grow());
  CHECK(run(folder, "train --threads 1 --resume " + disk + "/run").code == 0);
  REQUIRE(run(folder, "train --out " + folder / "straight" + small(folder)).code == 0);
  CHECK(latest(disk + "/run") == latest(folder.path / "straight"));
}

TEST_CASE("a run goes on with another rate and says so, but not as another model or with another tokenizer") {
  const Folder folder;
  const std::string model = folder / "run";
  REQUIRE(run(folder, "train --out " + model + small(folder)).code == 0);

  const Result refused = run(folder, "train --resume " + model + " --preset stories --context 32 --tokenizer chars --batch 3 --seed 4");
  CHECK(refused.code == 1);
  for (const char* line : {"\n  width is 32, not 128", "\n  context_length is 16, not 32", "\n  n_layers is 2, not 4",
                           "\n  tokenizer is bytes with 256 tokens, not chars", "\n  batch is 2, not 3", "\n  seed is 1337, not 4"})
    CHECK_MESSAGE(refused.err.find(line) != std::string::npos, line);

  const Result changed = run(folder, "train --resume " + model + " --lr 0.0001 --steps 50");
  CHECK(changed.code == 0);
  CHECK(changed.err.find("changed from step 40 on:\n  steps is 50, not 40\n  rate is 0.0001, not 0.001") != std::string::npos);

  const Result no_run = run(folder, "train --resume " + folder / "nothing");
  CHECK(no_run.code == 1);
  CHECK(no_run.err.find("nothing: holds no run that could go on") != std::string::npos);
}

TEST_CASE("a new run can begin with another's weights, and then brings its architecture and tokenizer along") {
  const Folder folder;
  REQUIRE(run(folder, "train --out " + folder / "first" + small(folder)).code == 0);
  CHECK(run(folder, "train --init " + folder / "first" + " --out " + folder / "refused" + small(folder)).code == 1);
  const Result second = run(folder, "train --init " + folder / "first" + folder.short_text() + " --steps 5 --batch 2 --threads 1 --out " + folder / "second");
  CHECK(second.code == 0);
  CHECK(losses(folder.path / "second").front() < losses(folder.path / "first").front() - 0.5);
}

TEST_CASE("a model of another project can be the beginning, and what becomes of it is read like any other") {
  const Folder folder;
  const std::string data = GRADUS_SHARED_DIR "/data";
  if (!fs::exists(data)) {
    MESSAGE("skipped: " << data << " is not there");
    return;
  }
  for (const char* model : {"/stories260K/stories260K.bin", "/story656k-hf"}) {
    const std::string out = folder / fs::path(model).stem().string();
    std::string text;
    for (int i = 0; i < 200; ++i) text += "Once upon a time there was number " + std::to_string(i * i) + ".\n";
    std::ofstream(folder / "text.txt") << text;
    const Result trained = run(folder, "train --init " + data + model + " --text " + folder / "text.txt" +
                                           " --context 32 --steps 3 --batch 2 --threads 1 --out " + out);
    CHECK_MESSAGE(trained.code == 0, trained.err);
    CHECK(run(folder, "generate --tokens 5 --prompt Once --model " + out).out.starts_with("Once"));
    CHECK(run(folder, "train --steps 5 --resume " + out).code == 0);
  }
}

TEST_CASE("a run that is at its end says so, and how to make it longer") {
  const Folder folder;
  REQUIRE(run(folder, "train --out " + folder / "run" + small(folder)).code == 0);
  const Result again = run(folder, "train --resume " + folder / "run");
  CHECK(again.code == 0);
  CHECK(again.err.find("no step was taken: the run stands at 40 of 40; --steps makes it longer") != std::string::npos);
}

TEST_CASE("a rate that is too high ends the run with the last good checkpoint named and intact") {
  const Folder folder;
  const Result result = run(folder, "train --lr 1e9 --out " + folder / "run" + small(folder));
  CHECK(result.code == 1);
  for (const char* part : {"at step ", "last finite loss", "learning rate", "clip", "data of this batch", "The last good checkpoint is "})
    CHECK_MESSAGE(result.err.find(part) != std::string::npos, part);
  CHECK_NOTHROW(gradus::nn::load_model(folder.path / "run"));
}

TEST_CASE("samples can be watched while a model learns, and change nothing") {
  const Folder folder;
  const Result with = run(folder, "train --sample 20 --out " + folder / "with" + small(folder));
  CHECK(with.code == 0);
  CHECK(with.err.find("\n  | ") != std::string::npos);
  REQUIRE(run(folder, "train --out " + folder / "without" + small(folder)).code == 0);
  CHECK(latest(folder.path / "with") == latest(folder.path / "without"));
}
