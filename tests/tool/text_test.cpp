// What a model can learn from.
#include <doctest/doctest.h>

#include "nn/checkpoint.h"
#include "optim/checkpoint.h"
#include "tests/tool/tool.h"

static const std::string small = " --preset book --steps 6 --batch 2 --context 16 --eval-every 3 --threads 1";

static std::string lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "line " + std::to_string(i * i) + "\n";
  return text;
}

TEST_CASE("a folder of texts and JSONL files can be learnt from, in windows or one document a row, and resumed") {
  const Folder folder;
  std::filesystem::create_directories(folder / "texts/more");
  std::ofstream(folder / "texts/a.txt") << lines(40) + "<|endoftext|>\n" + lines(30);
  std::ofstream(folder / "texts/more/b.jsonl") << "{\"text\": \"one document\"}\n{\"text\": \"another one, which is longer\"}\n";
  for (const char* kind : {"", " --documents --separator '<|endoftext|>'"}) {
    CAPTURE(kind);
    const std::string out = folder / (*kind == 0 ? "windows" : "documents");
    const Result result = run(folder, "train --text " + folder / "texts" + kind + " --out " + out + small);
    CAPTURE(result.err);
    CHECK(result.code == 0);
    CHECK(run(folder, "train --resume " + out + " --steps 8").code == 0);
  }
  const auto run_of = [&](const char* name) { return gradus::optim::read_run(gradus::nn::resolve_checkpoint(folder.path / name)); };
  CHECK(run_of("windows").source.kind == "text");
  CHECK(run_of("documents").source.separator == "<|endoftext|>");
}

TEST_CASE("a run does not go on with a text that has changed") {
  const Folder folder;
  std::ofstream(folder / "text.txt") << lines(100);
  REQUIRE(run(folder, "train --text " + folder / "text.txt" + " --out " + folder / "run" + small).code == 0);
  std::ofstream(folder / "text.txt") << lines(101);
  const Result result = run(folder, "train --steps 9 --resume " + folder / "run");
  CHECK(result.code == 1);
  CHECK(result.err.find("the run learnt from other data") != std::string::npos);
}

TEST_CASE("a text with a fault is refused with its file and the place in it, whatever the tokenizer is made of") {
  const Folder folder;
  std::filesystem::create_directories(folder.path / "texts");
  std::ofstream(folder / "texts/notes.md") << "not read";
  std::ofstream(folder / "texts/broken.txt") << lines(100) << "\xE6";
  const std::string flags = "train --text " + folder / "texts" + small + " --out " + folder / "run";
  const Result chars = run(folder, flags + " --tokenizer chars");
  CHECK(chars.code == 1);
  CHECK(chars.err == "gradus: " + folder / "texts/broken.txt" +
                         ": chars: byte 0xE6 at offset " + std::to_string(lines(100).size()) +
                         " is not UTF-8; the byte tokenizer takes any bytes\n");
  const Result bytes = run(folder, flags);
  CHECK(bytes.code == 0);
  CHECK(bytes.err.find("1 files of the folders are neither .txt nor .jsonl and are left out: " + folder / "texts/notes.md") !=
        std::string::npos);
  CHECK(run(folder, flags + "2 --separator '<|end|>'").err.find("found it in no text file") != std::string::npos);
}

TEST_CASE("runs are drawn by their folders") {
  const Folder folder;
  std::ofstream(folder / "text.txt") << lines(100);
  REQUIRE(run(folder, "train --text " + folder / "text.txt" + " --out " + folder / "run" + small).code == 0);
  const Result absent = run(folder, "plot " + folder / "absent");
  CHECK(absent.code == 1);
  CHECK(absent.err.find("absent: cannot read it") != std::string::npos);
  if (std::system("gnuplot --version > /dev/null 2>&1") != 0) {
    const Result none = run(folder, "plot " + folder / "run");
    CHECK(none.code == 1);
    CHECK(none.err == "gradus: terminal: no picture: the program gnuplot is not installed (Debian: gnuplot-nox)\n");
    MESSAGE("skipped: gnuplot is not installed");
    return;
  }
  const Result picture = run(folder, "plot " + folder / "run" + " --floor 0.5 --out " + folder / "loss.svg");
  CHECK(picture.code == 0);
  CHECK(contents(folder / "loss.svg").find("floor 0.500") != std::string::npos);
  CHECK(run(folder, "plot " + folder / "run" + " " + folder / "run/metrics.csv").out.find("validation") != std::string::npos);
}
