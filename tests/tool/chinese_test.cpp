// A language without spaces, three bytes a character, from the corpus to the screen.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "nn/text/utf8.h"
#include "tests/shared_data.h"
#include "tests/tool/tool.h"

using namespace gradus;

// What the tool writes, in the pieces in which it arrives.
static std::vector<std::string> pieces_of(const std::string& arguments) {
  std::FILE* const pipe = popen((tool + " " + arguments + " 2>/dev/null").c_str(), "r");
  std::vector<std::string> pieces;
  char buffer[4096];
  for (ssize_t count; (count = read(fileno(pipe), buffer, sizeof buffer)) > 0;) pieces.emplace_back(buffer, count);
  CHECK(pclose(pipe) == 0);
  return pieces;
}

static std::size_t chinese_characters(std::string_view text) {
  std::size_t count = 0;
  while (!text.empty()) {
    const nn::FirstCharacter first = nn::first_character(text);
    count += first.code >= 0x4E00 && first.code <= 0x9FFF;
    text.remove_prefix(first.length);
  }
  return count;
}

TEST_CASE("Chinese classics become a tokenizer and a model, which writes new text in whole characters at every moment") {
  if (absent()) return;
  const Folder folder;
#ifdef GRADUS_SANITIZED  // under which a model learns little in a test's time
  const char* steps = "4";
#else
  const char* steps = "300";
#endif
  const std::string text = " --text " + (data / "corpora/zh").string();
  const std::string tokenizer = folder / "tokenizer.json", model = folder / "model";
  REQUIRE(run(folder, "tokenize train --vocab 700" + text + " --out " + tokenizer).code == 0);
  const Result trained = run(folder, "train --tokenizer " + tokenizer + text + " --out " + model +
                                         " --preset shakespeare --batch 8 --lr 0.003 --steps " + steps);
  REQUIRE_MESSAGE(trained.code == 0, trained.err);

  for (const char* seed : {"1", "2", "3"}) {
    std::string whole;
    for (const std::string& piece : pieces_of("generate --model " + model + " --valid-utf8 --prompt 子曰 --tokens 100 --seed " + seed)) {
      CHECK(nn::is_utf8(piece));
      whole += piece;
    }
    CHECK(whole.starts_with("子曰"));
  }
#ifndef GRADUS_SANITIZED
  // What was learnt makes nearly every character whole by itself.
  std::size_t characters = 0, broken = 0;
  for (const char* seed : {"4", "5", "6", "7"}) {
    const std::string free = run(folder, "generate --model " + model + " --prompt 子曰 --tokens 100 --temperature 0.8 --min-p 0.1 --seed " + seed).out;
    characters += chinese_characters(free);
    broken += static_cast<std::size_t>(std::ranges::count(nn::escaped(free), 'x'));
  }
  CHECK(characters > 200);
  CHECK(broken < characters / 50);
#endif
}
