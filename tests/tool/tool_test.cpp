// The tool from outside: what it prints where, and its exit codes.
#include <doctest/doctest.h>

#include "optim/metrics.h"
#include "tests/tool/tool.h"

static const std::string quick = " --preset book --steps 12 --batch 4 --context 16 --eval-every 5";

TEST_CASE("training writes a folder with everything in it, and says nothing on standard output") {
  const Folder folder;
  const Result result = run(folder, "train --out " + folder / "model" + quick);
  CHECK(result.code == 0);
  CHECK(result.out.empty());
  CHECK(result.err.find("12/12") != std::string::npos);
  for (const char* file : {"latest", "best", "metrics.csv", "step-000012/config.json", "step-000012/model.safetensors",
                           "step-000012/tokenizer.json", "step-000012/trainer.json", "step-000012/moments.safetensors"})
    CHECK(std::filesystem::exists(folder.path / "model" / file));
  const auto rows = gradus::optim::read_metrics(folder.path / "model" / "metrics.csv");
  REQUIRE(rows.size() == 12);
  CHECK(rows.back().loss < rows.front().loss);
  CHECK(rows.back().validation_loss.has_value());

  const Result text = run(folder, "generate --tokens 20 --seed 3 --prompt 'Once' --model " + folder / "model");
  CHECK(text.code == 0);
  CHECK(text.out.starts_with("Once"));
  CHECK(text.out.ends_with("\n"));
  CHECK(text.err.find("20 tokens") != std::string::npos);
  CHECK(run(folder, "generate --tokens 20 --seed 3 --prompt 'Once' --model " + folder / "model").out == text.out);
  CHECK(run(folder, "generate --tokens 20 --seed 4 --prompt 'Once' --model " + folder / "model").out != text.out);

  const auto greedy = [&](const std::string& attention) {
    return run(folder, "generate --tokens 20 --temperature 0 --attention " + attention + " --model " + folder / "model").out;
  };
  CHECK(greedy("fused") == greedy("composed"));

  const Result again = run(folder, "train --out " + folder / "model" + quick);
  CHECK(again.code == 1);
  CHECK(again.err.find("already holds a run") != std::string::npos);
}

TEST_CASE("one's own text can be learnt, in bytes or in characters") {
  const Folder folder;
  std::ofstream(folder / "text.txt") << std::string(40, 'a') + "é\nüber\n" + std::string(400, 'b');
  for (const char* tokens : {"bytes", "chars"}) {
    CAPTURE(tokens);
    const std::string model = folder / tokens;
    CHECK(run(folder, "train --text " + folder / "text.txt" + " --tokenizer " + tokens + " --out " + model + quick).code == 0);
    CHECK(run(folder, "generate --tokens 5 --prompt 'é' --model " + model).out.starts_with("é"));
  }
  const Result outside = run(folder, "generate --prompt 'z' --model " + folder / "chars");
  CHECK(outside.code == 1);
  CHECK(outside.out.empty());
}

TEST_CASE("a flag that does not exist is refused by its name, and the nearest one is named") {
  const Folder folder;
  const Result unknown = run(folder, "train --out " + folder / "model" + " --step 3");
  CHECK(unknown.code != 0);
  CHECK(unknown.out.empty());
  CHECK(unknown.err.find("--step") != std::string::npos);
  CHECK(unknown.err.find("Did you mean --steps?") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder.path / "model"));
}

TEST_CASE("a value that makes no sense is refused by its flag") {
  const Folder folder;
  const auto refused = [&](const std::string& arguments, const std::string& flag) {
    CAPTURE(arguments);
    const Result result = run(folder, arguments);
    CHECK(result.code != 0);
    CHECK(result.out.empty());
    CHECK(result.err.find(flag) != std::string::npos);
  };
  const std::string out = " --out " + folder / "model";
  refused("train --steps many" + out, "--steps");
  refused("train --steps 0" + out, "--steps");
  refused("train --lr -1" + out, "--lr");
  refused("train --tokenizer words" + out, "words");
  refused("train --preset huge" + out, "huge");
  refused("train --steps 3", "--out");
  refused("train --text " + folder / "absent.txt" + out, "absent.txt");
  refused("generate --model " + folder / "absent", "absent");
  refused("generate --model x --temperature -1", "--temperature");
  refused("generate --model x --top-p 2", "--top-p");
  refused("info", "--preset");
  refused("info --preset huge", "huge");
  refused("paint", "paint");
  refused("", "subcommand");
}

TEST_CASE("a text shorter than a window is refused with both numbers") {
  const Folder folder;
  std::ofstream(folder / "short.txt") << "only a few bytes";
  const Result result = run(folder, "train --text " + folder / "short.txt" + " --out " + folder / "model");
  CHECK(result.code == 1);
  CHECK(result.err.find("129") != std::string::npos);
}

TEST_CASE("info counts parameters, and knows the machine") {
  const Folder folder;
  CHECK(run(folder, "info --preset book").out.find("19,008") != std::string::npos);
  CHECK(run(folder, "info --preset minimind").out.find("25,829,888") != std::string::npos);
  CHECK(run(folder, "info --preset gpt2").out.find("124,439,808") != std::string::npos);
  const Result machine = run(folder, "info --machine");
  CHECK(machine.code == 0);
  CHECK(machine.out.find("matrix products:") != std::string::npos);
  CHECK(machine.out.find("threads:") != std::string::npos);
}

TEST_CASE("help lists every flag with its meaning and exits with 0") {
  const Folder folder;
  for (const char* command : {"--help", "train --help", "generate --help", "info --help"}) {
    const Result result = run(folder, command);
    CHECK(result.code == 0);
    CHECK(result.out.find("--help") != std::string::npos);
  }
  CHECK(run(folder, "train --help").out.find("--eval-every") != std::string::npos);
}
