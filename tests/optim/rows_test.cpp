#include "optim/rows.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "autograd/error.h"
#include "autograd/ops/cross_entropy.h"
#include "nn/text/byte_tokenizer.h"
#include "tests/nn/temporary_folder.h"

using namespace gradus;
using namespace gradus::optim;

static std::vector<Example> numbered(int count) {
  std::vector<Example> examples;
  for (int i = 0; i < count; ++i) examples.push_back({{i, i, i + 100}, {}});
  return examples;
}

TEST_CASE("shorter rows are padded on the right with targets that do not count") {
  Rows rows({{{1, 2}, {}}}, {{{1, 2, 3, 4}, {false, false, true, true}}, {{5, 6}, {}}}, 8, 1);
  const Batch batch = rows.validation(0, 9);
  CHECK(batch.rows == 2);
  CHECK(batch.inputs == std::vector{1, 2, 3, 5, 0, 0});
  CHECK(batch.targets == std::vector{ignore_index, 3, 4, 6, ignore_index, ignore_index});
  CHECK(batch.counted() == 3);
}

TEST_CASE("an epoch takes every example once, in another order than the epoch before") {
  Rows rows(numbered(50), {}, 2, 7);
  std::vector<int> first, second;
  for (int i = 0; i < 10; ++i) for (int id : rows.training(5).inputs) first.push_back(id);
  for (int i = 0; i < 10; ++i) for (int id : rows.training(5).inputs) second.push_back(id);
  CHECK(std::set(first.begin(), first.end()).size() == 50);
  CHECK(std::set(second.begin(), second.end()).size() == 50);
  CHECK(first != second);
}

TEST_CASE("rows restored from their state go on with the same ones, also across the end of an epoch") {
  Rows straight(numbered(10), {}, 2, 7), resumed(numbered(10), {}, 2, 7), together(numbered(10), {}, 2, 7);
  straight.training(7);
  resumed.restore(straight.state());
  const Batch expected = straight.training(8);
  CHECK(resumed.training(8).inputs == expected.inputs);
  const Batch all = together.training(15);
  CHECK(std::equal(expected.inputs.begin(), expected.inputs.end(), all.inputs.begin() + 14));
  CHECK_THROWS_AS(resumed.restore(std::vector<std::uint64_t>{1}), ShapeError);
  CHECK_THROWS_AS(resumed.restore(std::vector<std::uint64_t>{1, 10}), ShapeError);
}

TEST_CASE("examples from which nothing can be learnt are refused by their place") {
  const auto refused = [](const Example& example, const char* why) {
    CHECK_THROWS_WITH_AS(Rows({{{1, 2}, {}}, example}, {}, 4, 1), why, ShapeError);
  };
  refused({{1}, {}}, "rows: training example 1 has 1 tokens; it needs one to read and one to predict");
  refused({{1, 2, 3, 4, 5, 6}, {}}, "rows: training example 1 has 6 tokens, more than a context of 4 and one target more");
  refused({{1, 2}, {true, false}}, "rows: training example 1 counts no target: nothing could be learnt from it");
  refused({{1, 2}, {true}}, "rows: training example 1 has 2 tokens and 1 marks");
  CHECK_THROWS_WITH_AS(Rows({}, numbered(1), 4, 1), "rows: there is no example to train on", ShapeError);
}

TEST_CASE("a document that is longer than a row goes on in the next, and every token but the first is a target once") {
  const TemporaryFolder folder;
  const auto path = folder.write("text.txt", "abcdefghi\n--\nxy\n--\nkl");
  const Rows rows = document_rows({{path}, "--"}, nn::ByteTokenizer(), 4, 0.4, 1);
  CHECK(rows.training_rows() == 4);
  REQUIRE(rows.validation_rows() == 1);
  CHECK(rows.validation(0, 1).targets == std::vector<int>{'l'});
  Rows drawn = rows;
  std::multiset<int> targets;
  for (int i = 0; i < 4; ++i)
    for (int target : drawn.training(1).targets) targets.insert(target);
  const std::string expected = "bcdefghi\ny\n";
  CHECK(targets == std::multiset<int>(expected.begin(), expected.end()));
}

TEST_CASE("a document's rows are on one side of the split, and its end token is its last target") {
  struct BytesWithEnd : nn::ByteTokenizer {
    std::size_t vocab_size() const override { return 257; }
    std::optional<int> end_token() const override { return 256; }
  };
  const TemporaryFolder folder;
  const auto path = folder.write("text.txt", "abcd\n--\nefghijklm\n--\nno\n");
  Rows rows = document_rows({{path}, "--"}, BytesWithEnd(), 5, 0.67, 1);
  CHECK(rows.training_rows() == 1);
  CHECK(rows.training(1).targets == std::vector<int>{'b', 'c', 'd', '\n', 256});
  REQUIRE(rows.validation_rows() == 3);
  CHECK(rows.validation(0, 2).targets == std::vector<int>{'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', '\n', 256});
  CHECK_THROWS_WITH_AS(document_rows({{path}, ""}, BytesWithEnd(), 0, 0, 1),
                       "rows: a context of 0 tokens has nothing to predict; use 1 or more", ShapeError);
}
