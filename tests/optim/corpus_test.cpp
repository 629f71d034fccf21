#include "optim/corpus.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "autograd/error.h"
#include "tests/nn/temporary_folder.h"

using namespace gradus;
using namespace gradus::optim;

static std::vector<std::string> documents(const Corpus& corpus) {
  std::vector<std::string> list(1);
  for_each_piece(corpus, [&](const Piece& piece) {
    CHECK(piece.begins == list.back().empty());
    list.back() += piece.text;
    if (piece.ends) list.emplace_back();
  });
  list.pop_back();
  return list;
}

TEST_CASE("a text file is one document, whatever its bytes, or one between each two separator lines") {
  const TemporaryFolder folder;
  const std::string text = std::string("a\0b\r\n\xE6\xAD\n<|end|>\n", 16) + "c <|end|>\n<|end|>\n<|end|>\nd";
  const auto path = folder.write("text.txt", text);
  CHECK(documents({{path}, ""}) == std::vector{text});
  CHECK(documents({{path}, "<|end|>"}) == std::vector<std::string>{std::string("a\0b\r\n\xE6\xAD\n", 8), "c <|end|>\n", "d"});
}

TEST_CASE("a large document comes in pieces that end where a line break stands alone, and give it back") {
  const TemporaryFolder folder;
  const std::string space = "\u3000";  // ideographic: Chinese paragraphs begin with it
  std::string text;
  for (int i = 0; text.size() < (std::size_t{20} << 20); ++i)
    text += "line " + std::to_string(i) + (i % 9 == 0 ? "\n" : i % 2 == 0 ? " \n\n" : "\n" + space);
  const auto path = folder.write("text.txt", text);
  std::string joined;
  std::size_t pieces = 0, ends = 0;
  for_each_piece({{path}, ""}, [&](const Piece& piece) {
    if (!piece.begins) {
      CHECK(joined.ends_with("\n"));
      CHECK(std::string("0123456789").find(joined[joined.size() - 2]) != std::string::npos);
      CHECK(piece.text.starts_with("line"));
    }
    joined += piece.text;
    ++pieces;
    ends += piece.ends;
  });
  CHECK(joined == text);
  CHECK(pieces == 3);
  CHECK(ends == 1);
}

TEST_CASE("a document without a good place to part it is parted at any line break, so that it never fills the memory") {
  const TemporaryFolder folder;
  std::string text;
  while (text.size() < (std::size_t{65} << 20)) text += std::string(1 << 20, 'x') + "\r\n";
  std::size_t pieces = 0, largest = 0;
  for_each_piece({{folder.write("text.txt", text)}, ""}, [&](const Piece& piece) {
    ++pieces;
    largest = std::max(largest, piece.text.size());
  });
  CHECK(pieces == 2);
  CHECK(largest <= std::size_t{64} << 20);
}

TEST_CASE("in a .jsonl file every line is a document, and a bad line is refused by its number") {
  const TemporaryFolder folder;
  CHECK(documents({{folder.write("a.jsonl", "{\"text\": \"one\\n\"}\n\n{\"text\": \"\xC3\xA9\", \"id\": 3}\n{\"text\": \"\"}")}, ""}) ==
        std::vector<std::string>{"one\n", "\xC3\xA9"});
  const std::pair<std::string, const char*> bad_lines[] = {
      {"{\"text\": 3}", "a \"text\" of the kind number"}, {"{\"txt\": \"a\"}", "an object without one"},
      {"[1]", "JSON of the kind array"},                      {"{\"text\": \"a", "what is not JSON, or nested too deep"},
      {"\"text\"", "JSON of the kind string"},              {"{\"text\": \"\xC3\"}", "what is not JSON, or nested too deep"},
      {std::string(1000000, '[') + std::string(1000000, ']'), "what is not JSON, or nested too deep"}};
  for (const auto& [bad, found] : bad_lines) {
    const auto path = folder.write("bad.jsonl", "{\"text\": \"a\"}\n" + bad + "\n");
    const std::string expected = path.string() + ": expected line 2 to be a JSON object with a \"text\", found " + found;
    CHECK_THROWS_WITH_AS(documents({{path}, ""}), expected.c_str(), FileError);
  }
}

TEST_CASE("a folder is read in the order of its paths, and only its texts") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "b");
  folder.write("c.txt", "3");
  folder.write("b/x.jsonl", "{\"text\": \"2\"}");
  folder.write("a.txt", "1");
  folder.write("picture.png", "no");
  CHECK(documents({{folder.path()}, ""}) == std::vector<std::string>{"1", "2", "3"});
  std::filesystem::create_directory(folder / "empty");
  CHECK_THROWS_WITH_AS(documents({{folder / "empty"}, ""}), doctest::Contains("expected .txt or .jsonl files"), FileError);
  std::filesystem::create_symlink("circle", folder / "circle");
  CHECK(documents({{folder.path()}, ""}).size() == 3);
  CHECK(left_out_of({{folder.path(), folder / "a.txt"}, ""}) == std::vector{folder / "picture.png"});
}

TEST_CASE("what is not there, has no text, or could be read only once is refused by its name") {
  const TemporaryFolder folder;
  const auto refused = [](const std::filesystem::path& path, const std::string& why) {
    const auto good = path.parent_path() / "good.txt";
    std::ofstream(good) << "text";
    CHECK_THROWS_WITH_AS(documents({{good, path}, ""}), (path.string() + ": " + why).c_str(), FileError);
  };
  refused(folder / "absent.txt", "the text cannot be read: no such file or folder");
  refused(folder.write("empty.txt", ""), "the text is empty; there is nothing to learn from");
  refused(folder.write("empty.jsonl", "\n{\"text\": \"\"}\n"), "the text is empty; there is nothing to learn from");
  REQUIRE(mkfifo((folder / "pipe.txt").c_str(), 0600) == 0);
  refused(folder / "pipe.txt", "expected a file or a folder, which can be read more than once, found neither");
}

TEST_CASE("a separator that stands in no line of its own is refused") {
  const TemporaryFolder folder;
  const auto inside = folder.write("inside.txt", "one<|end|>two\n"), between = folder.write("between.txt", "one\n<|end|>\r\ntwo");
  CHECK_THROWS_WITH_AS(documents({{inside}, "<|end|>"}),
                       (inside.string() + ": expected the line <|end|> between documents, found it in no text file; it must be "
                                          "all that is in its line").c_str(),
                       FileError);
  CHECK(documents({{inside, between}, "<|end|>"}).size() == 3);
  CHECK(documents({{folder.write("a.jsonl", "{\"text\": \"one\"}")}, "<|end|>"}).size() == 1);
}
