#include "optim/conversations.h"

#include <doctest/doctest.h>

#include "autograd/error.h"
#include "nn/text/byte_tokenizer.h"
#include "nn/text/char_tokenizer.h"
#include "optim/audit.h"
#include "tests/nn/temporary_folder.h"

using namespace gradus;
using namespace gradus::optim;

static constexpr const char* first = R"({"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]})";
static constexpr const char* second = R"({"conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}, {"from": "human", "value": "c"}, {"from": "gpt", "value": "d"}]})";

static ConversationRows rows_of(const std::filesystem::path& path, std::size_t context = 64) {
  return conversation_rows({path}, nn::ChatTemplate::plain, nn::ByteTokenizer(), context, 0, 1);
}

TEST_CASE("conversations are read in both of the usual spellings") {
  const TemporaryFolder folder;
  const auto list = read_conversations(folder.write("chat.jsonl", std::string(first) + "\n\n" + second + "\n"));
  REQUIRE(list.size() == 2);
  CHECK(list[0][1].role == "assistant");
  CHECK(list[0][1].content == "Hello");
  REQUIRE(list[1].size() == 4);
  CHECK(list[1][2].role == "user");
  CHECK(list[1][3].content == "d");
}

TEST_CASE("the targets that count are the answers, each with the token that ends it") {
  const TemporaryFolder folder;
  ConversationRows chat = rows_of(folder.write("chat.jsonl", second));
  CHECK(chat.cut == 0);
  const Batch batch = chat.rows.training(1);
  std::string counted;
  for (int target : batch.targets)
    if (target >= 0) counted += static_cast<char>(target);
  CHECK(counted == "b\nd\n");
  CHECK(batch.counted() == 4);
  const Audit seen = audit(chat.rows, 1, '\n');
  CHECK(seen.counted == 4);
  CHECK(seen.end_targets == 2);
}

TEST_CASE("padding is never the token that ends an answer") {
  const TemporaryFolder folder;
  const auto path = folder.write("chat.jsonl", second);
  const nn::CharTokenizer characters = nn::CharTokenizer::of_text("abcdeinrstu: \n");  // the line break is number 0
  ConversationRows chat = conversation_rows({path}, nn::ChatTemplate::plain, characters, 64, 0, 1);
  CHECK(chat.rows.padding() == 1);
  CHECK_NOTHROW(expect_supervision(chat.rows, 0));
}

TEST_CASE("a conversation longer than a row loses its end, and is left out where no answer remains") {
  const TemporaryFolder folder;
  const auto path = folder.write("chat.jsonl", std::string(first) + "\n" + second);
  const ConversationRows chat = rows_of(path, 20);  // "user: Hi⏎assistant: Hello⏎" has 26 bytes, its answer begins at 20
  CHECK(chat.cut == 2);
  CHECK(chat.left_out == 0);
  const ConversationRows shorter = rows_of(path, 19);
  CHECK(shorter.cut == 2);
  CHECK(shorter.left_out == 1);
  CHECK(shorter.rows.training_rows() == 1);
  CHECK_THROWS_WITH_AS(rows_of(path, 8), "conversations: none of 2 has an answer in its first 9 tokens; use a longer context", ShapeError);
}

TEST_CASE("a line that is no conversation is refused by its path and number") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& line, const char* why) {
    CAPTURE(line);
    const auto path = folder.write("bad.jsonl", std::string(first) + "\n" + line);
    CHECK_THROWS_WITH_AS(rows_of(path), doctest::Contains((std::string("bad.jsonl: line 2: ") + why).c_str()), FileError);
  };
  refused("{", "expected a JSON object");
  refused("[]", "expected a JSON object");
  refused(R"({"text": "a"})", "expected \"messages\" or \"conversations\", a list of messages");
  refused(R"({"messages": []})", "expected \"messages\" or \"conversations\", a list of messages");
  refused(R"({"messages": ["a"]})", "a message must be an object, not string");
  refused(R"({"messages": [{"role": "user"}]})", "a message needs \"content\" (or \"value\"), a text");
  refused(R"({"messages": [{"role": "user", "content": 3}]})", "a message needs \"content\" (or \"value\"), a text");
  refused(R"({"messages": [{"role": "tool", "content": "x"}]})", "chat template: message 0 is of the role tool");
  refused(R"({"messages": [{"role": "user", "content": "x"}]})",
          "the assistant says nothing, so no target would count; add its answer or take the line out");
  CHECK_THROWS_WITH_AS(rows_of(folder.write("empty.jsonl", "\n")), doctest::Contains("empty.jsonl: holds no conversation"), FileError);
  CHECK_THROWS_WITH_AS(rows_of(folder / "absent.jsonl"), doctest::Contains("absent.jsonl: the conversations cannot be read"), FileError);
}

TEST_CASE("conversations without any answer are refused, and not taken for ones that were cut") {
  const TemporaryFolder folder;
  struct WithEnds : nn::ByteTokenizer {
    std::vector<nn::SpecialToken> special_tokens() const override { return {{"<s>", 256}, {"</s>", 257}}; }
    std::size_t vocab_size() const override { return 258; }
  };
  for (const char* line : {R"({"messages": [{"role": "system", "content": "x"}]})", R"({"messages": [{"role": "user", "content": "x"}]})"})
    CHECK_THROWS_WITH_AS(conversation_rows({folder.write("mute.jsonl", line)}, nn::ChatTemplate::llama2, WithEnds(), 64, 0, 1),
                         doctest::Contains("mute.jsonl: line 1: the assistant says nothing"), FileError);
}

TEST_CASE("training without an end to learn is refused by its reason") {
  Rows without({{{1, 2, 3}, {}}}, {}, 4, 1);
  CHECK_THROWS_WITH_AS(expect_supervision(without, 9), doctest::Contains("the end token 9 is never a target in 1 rows"), ShapeError);
  Rows hidden({{{1, 2, 9}, {false, true, false}}}, {}, 4, 1);
  CHECK_THROWS_AS(expect_supervision(hidden, 9), ShapeError);
  Rows padded({{{1, 2, 9}, {}}}, {}, 4, 1, 9);
  CHECK_THROWS_WITH_AS(expect_supervision(padded, 9), "audit: padding and end token have the same id, 9; give padding another", ShapeError);
  Rows good({{{1, 2, 9}, {}}}, {}, 4, 1);
  CHECK_NOTHROW(expect_supervision(good, 9));
}

TEST_CASE("an audit shows every token, its target and whether it counts, and takes no row away") {
  Rows rows({{{'a', '\n', 'c'}, {false, false, true}}}, {}, 4, 1);
  CHECK(audit_table(rows, 1, nn::ByteTokenizer()) ==
        "row 0\n token                 | target                | counted\n"
        "    97 \"a\"            |                       | \n"
        "    10 \"\\n\"           |     99 \"c\"            | yes\n");
  CHECK(rows.state() == std::vector<std::uint64_t>{0, 0});
}
