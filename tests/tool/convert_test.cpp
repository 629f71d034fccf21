// gradus convert and compare from outside, with models that other people trained.
#include <doctest/doctest.h>

#include <sstream>

#include "nn/checkpoint.h"
#include "nn/text/byte_tokenizer.h"
#include "nn/text/char_tokenizer.h"
#include "tests/tool/tool.h"

using namespace gradus;
namespace fs = std::filesystem;

static const std::string data = GRADUS_SHARED_DIR "/data/";

static bool absent() {
  if (fs::exists(data)) return false;
  MESSAGE("skipped: " << data << " is not there");
  return true;
}

static void save_small_model(const Folder& folder, const std::string& name, std::uint64_t seed = 5) {
  nn::Decoder decoder({.width = 16, .n_layers = 2, .n_heads = 2, .n_kv_heads = 1, .hidden = 16, .context_length = 32});
  Rng rng(seed);
  nn::initialise(decoder, rng);
  nn::save_model(folder.path / name, decoder, nn::ByteTokenizer());
}

// The number behind "largest difference".
static double difference(const Result& result) {
  const std::size_t place = result.out.find("largest difference");
  REQUIRE(place != result.out.npos);
  return std::stod(result.out.substr(place + 18));
}

static void succeeds(const Result& result) { REQUIRE_MESSAGE(result.code == 0, result.err); }

TEST_CASE("a model goes round all forms and stays the same to rounding, its tokenizer with it") {
  const Folder folder;
  save_small_model(folder, "a");
  succeeds(run(folder, "convert " + folder / "a" + " " + folder / "b" + " --to hf"));
  succeeds(run(folder, "convert " + folder / "b" + " " + folder / "c" + " --to gradus"));
  succeeds(run(folder, "convert " + folder / "c" + " " + folder / "d.bin" + " --to llama2c"));
  succeeds(run(folder, "convert " + folder / "d.bin" + " " + folder / "e" + " --to gradus --tokenizer bytes"));
  const Result all = run(folder, "compare " + folder / "a" + " " + folder / "e" + " --tokens 100");
  succeeds(all);
  CHECK(difference(all) < 1e-5);
  CHECK(all.out.find("positions            100, in windows of 32\n") == 0);
  CHECK(contents(folder / "e/model.safetensors") == contents(folder / "a/model.safetensors"));
  for (const char* name : {"b", "c", "e"}) {
    const std::string writes = " --prompt hello --tokens 20 --temperature 0 --dump-ids";
    CHECK(run(folder, "generate --model " + folder / name + writes).out == run(folder, "generate --model " + folder / "a" + writes).out);
  }
}

TEST_CASE("stories260K goes from llama2.c to Hugging Face and back, byte for byte but for its angles") {
  if (absent()) return;
  const Folder folder;
  const std::string original = data + "stories260K/stories260K.bin", copy = data + "stories260K/hf";
  fs::create_directory(folder.path / "x");
  succeeds(run(folder, "convert " + original + " " + folder / "x/model.bin" + " --to llama2c"));
  CHECK(contents(folder / "x/model.bin") == contents(original));
  CHECK(contents(folder / "x/tokenizer.bin") == contents(data + "stories260K/tok512.bin"));

  succeeds(run(folder, "convert " + original + " " + folder / "hf" + " --to hf"));
  fs::create_directory(folder.path / "y");
  succeeds(run(folder, "convert " + folder / "hf" + " " + folder / "y/model.bin" + " --to llama2c"));
  CHECK(contents(folder / "y/model.bin").substr(0, 1040156) == contents(original).substr(0, 1040156));
  CHECK(contents(folder / "y/tokenizer.bin") == contents(data + "stories260K/tok512.bin"));

  const std::string text = " --text " + data + "corpora/tinystories-train-head-2MiB.txt --tokens 346";
  for (const std::string& other : {copy, folder / "hf"}) CHECK(difference(run(folder, "compare " + original + " " + other + text)) < 1e-4);
}

TEST_CASE("models that others saved write as they are, from every form the same") {
  if (absent()) return;
  const Folder folder;
  const std::string greedy = " --tokens 40 --temperature 0 --prompt \"Once upon a time\"";
  const std::string golden = contents(data + "stories260K/golden/greedy-once-upon-a-time.txt");
  for (const char* name : {"stories260K/stories260K.bin", "stories260K/hf"}) {
    const Result result = run(folder, "generate --model " + data + name + greedy);
    succeeds(result);
    CHECK(golden.starts_with(result.out.substr(0, result.out.size() - 1)));
  }
  const Result full = run(folder, "generate --model " + data + "story656k-hf" + greedy);
  const Result half = run(folder, "generate --model " + data + "story656k-hf-bf16 --tokenizer " + data + "story656k-hf" + greedy);
  succeeds(full);
  CHECK(full.out.starts_with("Once upon a time, a little girl named Lily lived"));
  CHECK(half.out == full.out);
  CHECK(difference(run(folder, "compare " + data + "story656k-hf " + data + "story656k-hf-bf16")) == 0);
  for (const char* name : {"stories260K/stories260K.bin", "stories260K/hf", "story656k-hf"}) {
    const Result info = run(folder, "info --model " + data + name);
    succeeds(info);
    CHECK(info.out.find("unique total") != info.out.npos);
  }
}

TEST_CASE("16-bit copies are half as large and nearly the same model") {
  const Folder folder;
  save_small_model(folder, "a");
  for (const char* dtype : {"bf16", "f16"}) {
    const std::string name = std::string("half-") + dtype;
    succeeds(run(folder, "convert " + folder / "a" + " " + folder / name + " --to hf --dtype " + dtype));
    CHECK(fs::file_size(folder / name + "/model.safetensors") < 0.6 * static_cast<double>(fs::file_size(folder / "a/model.safetensors")));
    const double worst = difference(run(folder, "compare " + folder / "a" + " " + folder / name));
    CHECK(worst > 0);
    CHECK(worst < 0.01);
  }
}

TEST_CASE("compare shows each position if asked, and finds where two models part") {
  const Folder folder;
  save_small_model(folder, "a");
  save_small_model(folder, "b", 6);
  std::ofstream(folder / "text") << "To be, or not";
  const Result result = run(folder, "compare " + folder / "a" + " " + folder / "b" + " --positions --text " + folder / "text");
  succeeds(result);
  std::istringstream lines(result.out);
  std::string line;
  std::getline(lines, line);
  CHECK(line == "position    token   difference");
  std::size_t count = 0;
  while (std::getline(lines, line) && !line.starts_with("positions")) ++count;
  CHECK(count == 13);
  CHECK(line == "positions            13, in windows of 13");
  CHECK(difference(result) > 0);
}

TEST_CASE("what cannot be converted or compared is refused, and nothing is written") {
  const Folder folder;
  save_small_model(folder, "a");
  const auto refused = [&](const std::string& arguments, const std::string& what) {
    const Result result = run(folder, arguments);
    CHECK(result.code == 1);
    CHECK(result.err.starts_with("gradus: "));
    CHECK_MESSAGE(result.err.find(what) != result.err.npos, result.err);
  };
  refused("convert " + folder / "a" + " " + folder / "a" + " --to hf", ": is there already; name a new one");
  refused("convert " + folder / "none" + " " + folder / "b" + " --to hf", ": expected a model, found no such file or folder");
  refused("convert " + folder / "a" + " " + folder / "b.bin --to llama2c --dtype bf16", "convert: llama2.c's files have f32 only");
  refused("convert " + folder / "a" + " " + folder / "no/such/folder.bin --to llama2c", "cannot create it: No such file or directory");
  nn::Decoder other({.vocab_size = 3, .width = 8, .n_layers = 1, .n_heads = 1, .n_kv_heads = 1});
  Rng rng(1);
  nn::initialise(other, rng);
  nn::save_model(folder.path / "o", other, nn::CharTokenizer::of_text("abc"));
  refused("compare " + folder / "a" + " " + folder / "o", "has 256 tokens and " + folder / "o" + " has 3; their logits cannot be compared");
  CHECK_FALSE(fs::exists(folder / "b"));
  CHECK_FALSE(fs::exists(folder / "b.bin"));
}

TEST_CASE("a file that was cut off, has impossible sizes, or is a folder is refused by every command that takes a model") {
  if (absent()) return;
  const Folder folder;
  const std::string whole = contents(data + "stories260K/stories260K.bin");
  std::vector<std::string> bad;
  for (const std::size_t length : {std::size_t{0}, std::size_t{7}, std::size_t{27}, std::size_t{28}, whole.size() / 2, whole.size() - 1})
    bad.push_back(whole.substr(0, length));
  for (std::size_t field = 0; field < 7; ++field)
    for (const std::int32_t value : {0, -1, 2147483647}) {
      std::string bytes = whole;
      bytes.replace(4 * field, 4, reinterpret_cast<const char*>(&value), 4);
      bad.push_back(bytes);
    }
  const std::string path = folder / "bad.bin";
  for (const std::string& bytes : bad) {
    std::ofstream(path, std::ios::binary) << bytes;
    for (const char* command : {"info --model ", "generate --tokenizer bytes --model "}) {
      const Result result = run(folder, command + path);
      CHECK(result.code == 1);
      CHECK(result.err.starts_with("gradus: " + path + ": expected "));
    }
  }
  CHECK(run(folder, "info --model " + folder.path.string()).code == 1);
}
