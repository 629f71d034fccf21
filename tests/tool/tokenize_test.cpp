// gradus tokenize from outside.
#include <doctest/doctest.h>

#include "tests/tool/tool.h"

static Result pipe(const Folder& folder, const std::string& input, const std::string& arguments) {
  std::ofstream(folder / "in", std::ios::binary) << input;
  return run(folder, "tokenize " + arguments + " <" + folder / "in");
}

// A tokenizer that has learnt aa, (aa)a and (aaa)b, and has two special tokens.
static std::string trained(const Folder& folder) {
  std::ofstream(folder / "text.txt") << "aaabdaaabac";
  const std::string file = folder / "tokenizer.json";
  const Result result = run(folder, "tokenize train --pattern none --vocab 261 --special '<|endoftext|>' '<a>' --text " +
                                        folder / "text.txt" + " --out " + file);
  CHECK(result.code == 0);
  CHECK(result.out.empty());
  CHECK(result.err.starts_with("261 tokens: 256 bytes, 3 merges, 2 special; from 11 bytes of text in "));
  return file;
}

TEST_CASE("a tokenizer that was learnt turns text into ids and ids into the same text") {
  const Folder folder;
  const std::string with = " --tokenizer " + trained(folder);
  CHECK(pipe(folder, "aaabdaaabac", "encode" + with).out == "258 100 258 97 99\n");
  CHECK(pipe(folder, "258 100\n258 97\t99 ", "decode" + with).out == "aaabdaaabac");
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  CHECK(pipe(folder, pipe(folder, bytes, "encode" + with).out, "decode" + with).out == bytes);
  CHECK(pipe(folder, "", "encode" + with).out == "\n");
  CHECK(pipe(folder, "", "decode" + with).out.empty());
  CHECK(pipe(folder, "<a>", "encode" + with).out == "60 97 62\n");
  CHECK(pipe(folder, "<a>", "encode --allow-special" + with).out == "260\n");
}

// As docs/tokenizers.md has it.
TEST_CASE("ids that become a text and ids again need not be the same ids") {
  const Folder folder;
  const std::string with = " --tokenizer " + trained(folder);
  CHECK(pipe(folder, "97 97", "decode" + with).out == "aa");
  CHECK(pipe(folder, "aa", "encode" + with).out == "256\n");
}

TEST_CASE("inspect shows a token a line: id, text, bytes, and no colour in a file") {
  const Folder folder;
  CHECK(pipe(folder, "aaab\n\xC3\xA9", "inspect --tokenizer " + trained(folder)).out ==
        "    258 | \"aaab\" | 61 61 61 62\n"
        "     10 | \"\\n\" | 0A\n"
        "    195 | \"\\xC3\" | C3\n"
        "    169 | \"\\xA9\" | A9\n");
}

TEST_CASE("a tokenizer learns from folders, JSON lines and separated documents, as a model does") {
  const Folder folder;
  std::filesystem::create_directories(folder.path / "texts");
  std::ofstream(folder / "texts/a.txt") << "low lower\n<end>\nlowest\n";
  std::ofstream(folder / "texts/b.jsonl") << R"({"text": "newer low"})" << "\n";
  const char* documents[] = {"low lower\n", "lowest\n", "newer low"};
  std::string apart;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string path = folder / ("document" + std::to_string(i));
    std::ofstream(path) << documents[i];
    apart += " " + path;
  }
  const auto learn = [&](const std::string& from, const std::string& name) {
    const Result result = run(folder, "tokenize train --vocab 270 --text" + from + " --out " + folder / name);
    CHECK_MESSAGE(result.code == 0, result.err);
    return contents(folder / name);
  };
  CHECK(learn(" " + folder / "texts --separator '<end>'", "one.json") == learn(apart, "other.json"));
}

TEST_CASE("a text with no pair left says so") {
  const Folder folder;
  std::ofstream(folder / "text.txt") << "ab";
  const Result result =
      run(folder, "tokenize train --vocab 300 --text " + folder / "text.txt" + " --out " + folder / "t.json");
  CHECK(result.code == 0);
  CHECK(result.err.find("fewer than the 300 asked for") != std::string::npos);
}

TEST_CASE("what tokenize cannot use is refused by its name, and nothing is written") {
  const Folder folder;
  const auto refused = [&](const std::string& input, const std::string& arguments, const std::string& name) {
    CAPTURE(arguments);
    const Result result = pipe(folder, input, arguments);
    CHECK(result.code != 0);
    CHECK(result.out.empty());
    CHECK(result.err.find(name) != std::string::npos);
  };
  refused("", "", "subcommand");
  refused("", "encode --tokenizer " + folder / "absent", "absent");
  refused("", "encode --tokeniser x", "Did you mean --tokenizer?");
  refused("65 x7", "decode", "found \"x7\" as number 1");
  refused("65 99999999999", "decode", "found \"99999999999\" as number 1");
  refused("65 256", "decode", "id 256 at position 1");
  const std::string rest = " --text " + folder / "in" + " --out " + folder / "t.json";
  refused("text", "train --vocab 255" + rest, "--vocab");
  refused("text", "train --vocab 256 --special '<a>'" + rest, "ask for 257 or more");
  refused("text", "train --vocab 300 --pattern words" + rest, "--pattern");
  refused("text", "train --vocab 300 --out " + folder / "t.json", "--text");
  refused("text", "train --vocab 300 --text " + folder / "absent" + " --out " + folder / "t.json", "absent");
  CHECK_FALSE(std::filesystem::exists(folder / "t.json"));
  for (const char* command : {"", "train", "encode", "decode", "inspect"})
    CHECK(run(folder, std::string("tokenize ") + command + " --help").code == 0);
}
