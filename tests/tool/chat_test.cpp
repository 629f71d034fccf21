// Teaching a model to answer, and talking to it.
#include <doctest/doctest.h>

#include "tests/tool/tool.h"

static std::string conversations() {
  std::string lines;
  for (const char* pet : {"cat", "dog", "fox", "owl", "hen", "cow", "pig", "bee", "ant", "bat"})
    for (const auto& [question, answer] : {std::pair{"name ", "I am a "}, {"call ", "Here, "}})
      lines += std::string(R"({"messages": [{"role": "user", "content": ")") + question + pet + R"("}, {"role": "assistant", "content": ")" +
               answer + pet + "\"}]}\n";
  return lines;
}

static Result talk(const Folder& folder, const std::string& lines, const std::string& arguments) {
  std::ofstream(folder / "in") << lines;
  return run(folder, "chat --temperature 0 --threads 1 " + arguments + " <" + folder / "in");
}

TEST_CASE("a model that learnt conversations answers, stops where an answer ends, and goes on within its context") {
  const Folder folder;
  std::ofstream(folder / "chat.jsonl") << conversations();
  const std::string data = " --data " + folder / "chat.jsonl" + " --template plain --context 64";
  const Result audit = run(folder, "audit --rows 1" + data);
  CHECK(audit.code == 0);
  CHECK(audit.out.find("| yes") != std::string::npos);
  CHECK(audit.out.find("the end token 10 is a target 256 times") != std::string::npos);

  const Result trained = run(folder, "train --preset book --steps 300 --batch 10 --lr 0.01 --threads 1 --out " + folder / "run" + data);
  REQUIRE(trained.code == 0);
  const Result answers = talk(folder, "name cat\n\ncall owl\na\tb\nname fox\n/exit\nname dog\n", "--model " + folder / "run");
  CHECK(answers.code == 0);
  CHECK(answers.out.starts_with("I am a cat\nHere, owl\n"));
  CHECK(answers.err.find("the oldest question and answer are forgotten: the context holds 64 tokens") != std::string::npos);

  const Result too_long = talk(folder, std::string(100, 'x') + "\nname cat\n", "--model " + folder / "run");
  CHECK(too_long.code == 0);
  CHECK(too_long.err.find("leaves room for 32; say it shorter") != std::string::npos);
  CHECK(too_long.out == "I am a cat\n");

  std::ofstream(folder / "more.jsonl") << conversations();
  const Result second = run(folder, "train --init " + folder / "run" + " --data " + folder / "more.jsonl" +
                                        " --steps 5 --batch 4 --threads 1 --out " + folder / "second");
  CHECK(second.code == 0);
  CHECK(talk(folder, "name cat\n", "--model " + folder / "second").out == "I am a cat\n");
}

TEST_CASE("without a template nobody can chat or learn conversations, and each is told what to do") {
  const Folder folder;
  std::ofstream(folder / "chat.jsonl") << conversations();
  const std::string model = folder / "run";
  REQUIRE(run(folder, "train --preset book --steps 2 --batch 2 --threads 1 --out " + model + folder.short_text()).code == 0);
  const Result chat = talk(folder, "hello\n", "--model " + model);
  CHECK(chat.code == 1);
  CHECK(chat.err.find("the model has no chat template") != std::string::npos);
  const Result train = run(folder, "train --init " + model + " --data " + folder / "chat.jsonl" + " --out " + folder / "other");
  CHECK(train.code == 1);
  CHECK(train.err.find("name one: chatml, llama2 or plain") != std::string::npos);
  const Result special = run(folder, "train --init " + model + " --template chatml --data " + folder / "chat.jsonl" + " --out " + folder / "other");
  CHECK(special.code == 1);
  CHECK(special.err.find("chatml needs the special token <|im_end|>") != std::string::npos);
}
