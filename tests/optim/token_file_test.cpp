#include "optim/token_file.h"

#include <doctest/doctest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>

#include "autograd/error.h"
#include "nn/text/byte_tokenizer.h"
#include "nn/text/char_tokenizer.h"
#include "optim/windows.h"
#include "tests/nn/temporary_folder.h"

using namespace gradus;
using namespace gradus::optim;

static std::vector<int> bytes(std::size_t count) {
  std::vector<int> ids(count);
  for (std::size_t i = 0; i < count; ++i) ids[i] = static_cast<int>(i * i % 251);
  return ids;
}

static void write(const std::filesystem::path& path, const std::vector<int>& ids, const nn::Tokenizer& tokenizer) {
  TokenFileWriter file(path, tokenizer);
  for (std::size_t begin = 0; begin < ids.size(); begin += 77)
    file.write(std::span(ids).subspan(begin, std::min<std::size_t>(77, ids.size() - begin)));
  file.commit();
}

namespace {

struct LargeVocabulary : nn::ByteTokenizer {
  std::size_t vocab_size() const override { return 70000; }
};

}  // namespace

TEST_CASE("windows from a file are those from memory") {
  const TemporaryFolder folder;
  const std::vector<int> ids = bytes(1000);
  write(folder / "tokens", ids, nn::ByteTokenizer());
  CHECK(std::filesystem::file_size(folder / "tokens") == 32 + 2 * 1000);
  Windows in_memory(ids, 16, 0.1, 3);
  Windows in_file(std::make_shared<TokenFile>(folder / "tokens", nn::ByteTokenizer()), 16, 0.1, 3);
  CHECK(in_file.training_tokens() == in_memory.training_tokens());
  for (int i = 0; i < 20; ++i) CHECK(in_file.training(3).targets == in_memory.training(3).targets);
  CHECK(in_file.validation(0, 100).inputs == in_memory.validation(0, 100).inputs);
}

TEST_CASE("a vocabulary of more than 65,536 takes four bytes a token") {
  const TemporaryFolder folder;
  write(folder / "tokens", {1, 69999, 65536}, LargeVocabulary());
  CHECK(std::filesystem::file_size(folder / "tokens") == 32 + 4 * 3);
  std::vector<int> read(3);
  TokenFile(folder / "tokens", LargeVocabulary()).read(0, read);
  CHECK(read == std::vector{1, 69999, 65536});
}

TEST_CASE("a file of tokens that is cut, changed or another tokenizer's is refused") {
  const TemporaryFolder folder;
  write(folder / "tokens", bytes(100), nn::ByteTokenizer());
  std::ifstream file(folder / "tokens", std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(file)), {});
  const auto refused = [&](const std::string& content, const char* why) {
    const auto path = folder.write("bad", content);
    CHECK_THROWS_WITH_AS(TokenFile(path, nn::ByteTokenizer()), doctest::Contains(why), FileError);
  };
  refused("", "expected a file of tokens, at least 32 bytes, found 0");
  refused(good.substr(0, 31), "at least 32 bytes, found 31");
  refused(good.substr(0, 32), "expected 100 tokens of 2 bytes, found 0 bytes behind the header; was the file cut?");
  refused(good.substr(0, good.size() - 1), "found 199 bytes behind the header");
  refused(good + "x", "found 201 bytes behind the header");
  const auto changed = [&](std::size_t place) {
    std::string content = good;
    content[place] = '\7';
    return content;
  };
  refused(changed(0), "expected a file of tokens, which begins with GRADUSTK, found another kind of file");
  refused(changed(8), "expected version 1 with 2 or 4 bytes a token, found version 7 with 2; encode the text again");
  refused(changed(12), "expected version 1 with 2 or 4 bytes a token, found version 1 with 7");
  std::string size = good;
  std::memset(size.data() + 16, 0xFF, 8);
  refused(size, "expected 18446744073709551615 tokens");
  CHECK_THROWS_WITH_AS(TokenFile(folder / "tokens", nn::CharTokenizer::of_text("ab")),
                       doctest::Contains("the tokens are another tokenizer's"), FileError);
  CHECK_THROWS_WITH_AS(TokenFile(folder / "absent", nn::ByteTokenizer()),
                       doctest::Contains("absent: the tokens cannot be read: No such file or directory"), FileError);
  CHECK_THROWS_WITH_AS(TokenFile(folder.path(), nn::ByteTokenizer()), doctest::Contains("found what is no file"), FileError);
}

TEST_CASE("an id that the tokenizer does not have is refused when it is read, and so is a file that became shorter") {
  const TemporaryFolder folder;
  write(folder / "tokens", {1, 200, 2}, nn::ByteTokenizer());
  std::fstream(folder / "tokens", std::ios::in | std::ios::out | std::ios::binary).seekp(32 + 2).write("\x2C\x01", 2);  // 300
  const TokenFile file(folder / "tokens", nn::ByteTokenizer());
  std::vector<int> read(3);
  CHECK_THROWS_WITH_AS(file.read(0, read), doctest::Contains("tokens: token 1 is 300, which is not below the tokenizer's 256"), FileError);
  std::filesystem::resize_file(folder / "tokens", 34);
  CHECK_THROWS_WITH_AS(file.read(0, read), doctest::Contains("did it become shorter?"), FileError);
}

TEST_CASE("an id that does not fit is not written") {
  const TemporaryFolder folder;
  for (const int id : {256, 65536 + 7, -1})
    CHECK_THROWS_WITH_AS(write(folder / "tokens", {1, 2, id}, nn::ByteTokenizer()),
                         message("token file: id {} of token 2 must be below the tokenizer's 256", id).c_str(), ShapeError);
  CHECK(!std::filesystem::exists(folder / "tokens"));
}
