#include "optim/checkpoint.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <map>

#include "autograd/error.h"
#include "nn/text/byte_tokenizer.h"
#include "optim/story_grammar.h"
#include "optim/windows.h"
#include "tests/nn/temporary_folder.h"

using namespace gradus;
using namespace gradus::optim;

static const TrainerOptions settings{.steps = 20, .batch = 4, .accumulate = 2, .eval_every = 7, .seed = 3};

static nn::Decoder fresh_decoder() {
  nn::Decoder decoder({.vocab_size = 256, .width = 16, .n_layers = 2, .n_heads = 2, .n_kv_heads = 1, .hidden = 24,
                       .context_length = 16, .dropout = 0.1});
  Rng rng(5, 1);
  nn::initialise(decoder, rng);
  return decoder;
}

static Windows windows(std::uint64_t corpus = 1) {
  return Windows(nn::ByteTokenizer().encode(story_corpus(corpus, 5000).text), 16, 0.1, 5);
}

// The name and the bytes of every file but those with the time in them.
static std::map<std::string, std::string> files_in(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(file)), {});
    if (const std::size_t seconds = bytes.find("\"seconds\""); seconds != std::string::npos)
      bytes.erase(seconds, bytes.find('\n', seconds) - seconds);
    files[entry.path().filename().string()] = bytes;
  }
  return files;
}

static void steps(Trainer& trainer, int count) {
  for (int i = 0; i < count; ++i) trainer.step();
}

static void save(const std::filesystem::path& folder, Trainer& trainer, Windows& data) {
  save_checkpoint(folder, trainer, nn::ByteTokenizer(), {"stories", {}, "", fingerprint_of(data)});
}

TEST_CASE("a run that is saved and goes on writes the bytes of one that never stopped") {
  const TemporaryFolder folder;
  {
    nn::Decoder decoder = fresh_decoder();
    Windows data = windows();
    const std::uint64_t fingerprint = fingerprint_of(data);
    Trainer trainer(decoder, data, settings);
    steps(trainer, 10);
    save_checkpoint(folder / "ten", trainer, nn::ByteTokenizer(), {"stories", {}, "", fingerprint});
    steps(trainer, 10);
    save_checkpoint(folder / "straight", trainer, nn::ByteTokenizer(), {"stories", {}, "", fingerprint});
  }
  nn::Model model = nn::load_model(folder / "ten");
  Windows data = windows();
  const SavedRun run = read_run(folder / "ten");
  Trainer trainer(model.decoder, data, run.options);
  restore(trainer, folder / "ten", run);
  steps(trainer, 10);
  CHECK(trainer.finished());
  save_checkpoint(folder / "resumed", trainer, *model.tokenizer, run.source);
  CHECK(files_in(folder / "resumed") == files_in(folder / "straight"));

  nn::Model again = nn::load_model(folder / "ten");
  Windows same = windows();
  Trainer forgetful(again.decoder, same, run.options);
  forgetful.restore(run.state);
  same.restore(run.data_state);
  steps(forgetful, 10);
  save_checkpoint(folder / "forgetful", forgetful, *model.tokenizer, run.source);
  CHECK(files_in(folder / "forgetful")["model.safetensors"] != files_in(folder / "straight")["model.safetensors"]);
}

TEST_CASE("a run does not go on with other data") {
  const TemporaryFolder folder;
  nn::Decoder decoder = fresh_decoder();
  Windows data = windows(), other = windows(2);
  Trainer trainer(decoder, data, settings);
  save(folder.path(), trainer, data);
  Trainer elsewhere(decoder, other, settings);
  CHECK_THROWS_WITH_AS(restore(elsewhere, folder.path(), read_run(folder.path())),
                       doctest::Contains("the run learnt from other data"), FileError);
}

TEST_CASE("a fingerprint depends on the rows and leaves the data where it stood") {
  Windows data = windows(), same = windows(), other = windows(2);
  const std::vector<std::uint64_t> state = data.state();
  CHECK(fingerprint_of(data) == fingerprint_of(same));
  CHECK(fingerprint_of(data) != fingerprint_of(other));
  CHECK(data.state() == state);
}

TEST_CASE("a trainer.json that is missing or damaged is refused by its path") {
  const TemporaryFolder folder;
  nn::Decoder decoder = fresh_decoder();
  Windows data = windows();
  Trainer trainer(decoder, data, settings);
  save(folder.path(), trainer, data);
  std::ifstream file(folder / "trainer.json");
  const std::string good((std::istreambuf_iterator<char>(file)), {});
  std::filesystem::remove(folder / "trainer.json");
  CHECK_THROWS_WITH_AS(read_run(folder.path()), doctest::Contains("no run that could go on"), FileError);
  for (std::size_t length = 0; length + 2 < good.size(); length += 37) {
    folder.write("trainer.json", good.substr(0, length));
    CHECK_THROWS_WITH_AS(read_run(folder.path()), doctest::Contains("trainer.json: expected a JSON object"), FileError);
  }
  for (const auto& [from, to] : {std::pair{"\"batch\": 4", "\"batch\": 0"}, {"\"batch\": 4", "\"batch\": \"4\""}, {"\"rate\"", "\"raten\""},
                                {"\"step\": 0", "\"step\": null"}}) {
    std::string bad = good;
    bad.replace(bad.find(from), std::string(from).size(), to);
    folder.write("trainer.json", bad);
    CHECK_THROWS_WITH_AS(read_run(folder.path()), doctest::Contains("trainer.json: expected a run's settings"), FileError);
  }
}
