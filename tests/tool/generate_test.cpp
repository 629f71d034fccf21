// gradus generate from outside: which text, ids and logits go where.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>
#include <vector>

#include "nn/checkpoint.h"
#include "nn/text/byte_tokenizer.h"
#include "nn/text/char_tokenizer.h"
#include "nn/text/generate.h"
#include "tests/nn/gpt2_folder.h"
#include "tests/tool/tool.h"

using namespace gradus;

namespace {

constexpr std::size_t context = 32;

const std::string letters = "\nabcdefgh";  // the vocabulary: every shell can quote what the model writes

// A model with random weights, large enough for definite opinions, in the folder "model".
nn::Decoder save_model(const Folder& folder) {
  nn::Decoder decoder({.vocab_size = letters.size(), .width = 16, .n_layers = 2, .n_heads = 2, .n_kv_heads = 1,
                       .hidden = 16, .context_length = context});
  Rng rng(5);
  for (nn::Parameter parameter : nn::parameters(decoder))
    for (Real& value : parameter.tensor.mutable_values()) value = static_cast<Real>(0.4 * rng.normal());
  nn::save_model(folder.path / "model", decoder, nn::CharTokenizer::of_text(letters));
  return decoder;
}

Result generate(const Folder& folder, const std::string& arguments) {
  return run(folder, "generate --model " + folder / "model" + " " + arguments);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<int> numbers_of(const std::string& line) {
  std::vector<int> numbers;
  std::istringstream stream(line);
  for (int number; stream >> number;) numbers.push_back(number);
  return numbers;
}

std::string text_of(const std::vector<int>& ids) { return nn::CharTokenizer::of_text(letters).decode(ids); }

}  // namespace

TEST_CASE("a prompt comes from an argument, a file or standard input, and the text is the same") {
  const Folder folder;
  save_model(folder);
  std::ofstream(folder / "prompt.txt") << "ab\nc";
  const std::string argument = generate(folder, "--tokens 9 --prompt 'ab\nc'").out;
  CHECK(argument.starts_with("ab\nc"));
  CHECK(generate(folder, "--tokens 9 --prompt-file " + folder / "prompt.txt").out == argument);
  CHECK(generate(folder, "--tokens 9 --prompt-file - <" + folder / "prompt.txt").out == argument);
  const Result absent = generate(folder, "--prompt-file " + folder / "absent.txt");
  CHECK(absent.code == 1);
  CHECK(absent.err == "gradus: " + folder / "absent.txt" + ": the prompt cannot be read\n");
  CHECK(generate(folder, "--prompt a --prompt-file -").code == 2);
}

TEST_CASE("without a prompt, or with an empty one, the model begins a text") {
  const Folder folder;
  save_model(folder);
  const Result none = generate(folder, "--tokens 5");
  CHECK(none.code == 0);
  CHECK(none.out.starts_with("\n"));
  CHECK(generate(folder, "--tokens 5 --prompt ''").out == none.out);
  CHECK(generate(folder, "--tokens 5 --prompt-file /dev/null").out == none.out);
}

TEST_CASE("ids are printed in place of text: the prompt's on a line, each sample's new ones on another") {
  const Folder folder;
  const nn::Decoder decoder = save_model(folder);
  const Result ids = generate(folder, "--tokens 7 --prompt abc --seed 0 --samples 2 --dump-ids");
  const std::vector<std::string> lines = lines_of(ids.out);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == "1 2 3");
  const std::vector<int> prompt = {1, 2, 3};
  for (std::uint64_t sample : {0, 1}) {
    Rng rng(0, sample);
    CHECK(numbers_of(lines[sample + 1]) == nn::generate(decoder, prompt, {.tokens = 7}, rng));
  }
  const std::string text = generate(folder, "--tokens 7 --prompt abc --seed 0").out;
  CHECK(text == "abc" + text_of(numbers_of(lines[1])) + "\n");
}

TEST_CASE("several samples differ, the first is the one of its own, and each is announced") {
  const Folder folder;
  save_model(folder);
  const std::string one = generate(folder, "--tokens 6 --prompt a --seed 3").out;
  const Result three = generate(folder, "--tokens 6 --prompt a --seed 3 --samples 3");
  const std::string second = "--- sample 2 of 3\n", third = "--- sample 3 of 3\n";
  CHECK(three.out.starts_with("--- sample 1 of 3\n" + one + second));
  const std::size_t at = three.out.find(second) + second.size(), behind = three.out.find(third);
  REQUIRE(behind != std::string::npos);
  CHECK(three.out.substr(at, behind - at) != one);
  CHECK(generate(folder, "--tokens 6 --prompt a --seed 3 --samples 3").out == three.out);
  CHECK(lines_of(three.err).size() == 3);
}

TEST_CASE("a text ends before the first of its stop strings, which may be spread over tokens") {
  const Folder folder;
  save_model(folder);
  const std::string whole = generate(folder, "--tokens 20 --prompt a --seed 2").out;
  const std::string stop = whole.substr(9, 2);
  REQUIRE(stop.find('\n') == std::string::npos);
  const std::size_t at = whole.find(stop, 1);
  const Result ended = generate(folder, "--tokens 20 --prompt a --seed 2 --stop zz --stop '" + stop + "'");
  CHECK(ended.code == 0);
  CHECK(ended.out == whole.substr(0, at) + "\n");
  CHECK(generate(folder, "--tokens 20 --prompt a --seed 2 --stop zz").out == whole);
  CHECK(generate(folder, "--prompt a --stop ''").code != 0);
}

TEST_CASE("the logits of each new token go to a file, a row of floats a token, whole or not at all") {
  const Folder folder;
  const nn::Decoder decoder = save_model(folder);
  const std::string path = folder / "logits.f32";
  const Result result = generate(folder, "--tokens 4 --samples 2 --prompt ab --temperature 0.7 --dump-logits " + path);
  CHECK(result.code == 0);
  const std::string bytes = contents(path);
  REQUIRE(bytes.size() == 2 * 4 * decoder.config.vocab_size * sizeof(float));
  std::vector<float> found(bytes.size() / sizeof(float)), expected;
  std::memcpy(found.data(), bytes.data(), bytes.size());
  const std::vector<int> prompt = {1, 2};
  for (std::uint64_t sample : {0, 1})
    nn::generate(decoder, prompt, {.tokens = 4},
                 [&, draw = nn::make_sampler({.temperature = 0.7}, Rng(1, sample))](auto logits, auto text) {
                   expected.insert(expected.end(), logits.begin(), logits.end());
                   return draw(logits, text);
                 });
  REQUIRE(found.size() == expected.size());
  float apart = 0;
  for (std::size_t i = 0; i < found.size(); ++i) apart = std::max(apart, std::abs(found[i] - expected[i]));
  CHECK(apart < 1e-4f);

  const Result nowhere = generate(folder, "--dump-logits " + folder / "absent" + "/logits.f32");
  CHECK(nowhere.code == 1);
  CHECK(nowhere.out.empty());
  CHECK(nowhere.err.find("absent/logits.f32") != std::string::npos);
}

TEST_CASE("the likeliest next tokens are a table with probabilities, after the filters") {
  const Folder folder;
  save_model(folder);
  const Result all = generate(folder, "--prompt ab --top 100");
  CHECK(all.code == 0);
  const std::vector<std::string> lines = lines_of(all.out);
  REQUIRE(lines.size() == 1 + letters.size());
  double sum = 0, before = 1;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    std::istringstream line(lines[i]);
    int id;
    std::string text;
    double probability;
    line >> id >> text >> probability;
    CHECK(text == (letters[id] == '\n' ? "\"\\n\"" : std::string{'"', letters[id], '"'}));
    CHECK(probability <= before);
    sum += before = probability;
  }
  CHECK(sum == doctest::Approx(1).epsilon(1e-4));
  CHECK(lines_of(generate(folder, "--prompt ab --top 3").out) ==
        std::vector(lines.begin(), lines.begin() + 4));
  CHECK(lines_of(generate(folder, "--prompt ab --top 100 --top-k 2").out).size() == 3);
  CHECK(generate(folder, "--prompt ab --top 3 --temperature 0").err.find("no distribution") != std::string::npos);
  CHECK(generate(folder, "--prompt ab --top 3 --samples 2").code == 2);
}

TEST_CASE("more than the context holds ends cleanly, slides, and says both numbers") {
  const Folder folder;
  save_model(folder);
  const Result many = generate(folder, "--tokens 1000 --prompt abcde");
  CHECK(many.code == 0);
  CHECK(many.out.size() == 5 + 1000 + 1);
  CHECK(lines_of(many.err)[0] ==
        "a prompt of 5 tokens and 1000 new ones are more than the context of 32: once it is full, the model reads the "
        "last 32 again for each token, which is slower");
  CHECK(generate(folder, "--tokens 1000 --prompt abcde --no-cache").out == many.out);

  const std::string tail(32, 'b');
  const Result long_prompt = generate(folder, "--tokens 9 --temperature 0 --prompt aaaa" + tail);
  CHECK(lines_of(long_prompt.err)[0] ==
        "the prompt has 36 tokens and the context holds 32: the model reads the last 32");
  CHECK(long_prompt.out == "aaaa" + generate(folder, "--tokens 9 --temperature 0 --prompt " + tail).out);

  const Result full = generate(folder, "--tokens 1 --prompt " + std::string(31, 'b'));
  CHECK(full.out.size() == 31 + 1 + 1);
  CHECK(lines_of(full.err).size() == 1);
}

TEST_CASE("speed goes to standard error, and zero new tokens are none") {
  const Folder folder;
  save_model(folder);
  const std::string line = generate(folder, "--tokens 8 --prompt abc").err;
  CHECK(line.starts_with("prompt 3 tokens, "));
  CHECK(line.find(" tokens/s; first token after ") != std::string::npos);
  CHECK(line.find(" ms; new 8 tokens, ") != std::string::npos);
  const Result none = generate(folder, "--tokens 0 --prompt abc");
  CHECK(none.out == "abc\n");
  CHECK(none.err == "prompt 3 tokens; new 0 tokens\n");
}

TEST_CASE("llama2.c's draws are seeded, sample by sample, and know no other filters") {
  const Folder folder;
  save_model(folder);
  const std::string flags = "--tokens 9 --prompt a --llama2c-random ";
  const auto lines = lines_of(generate(folder, flags + "--dump-ids --samples 2 --seed 4").out);
  REQUIRE(lines.size() == 3);
  CHECK(lines_of(generate(folder, flags + "--dump-ids --seed 5").out)[1] == lines[2]);
  CHECK(lines[1] != lines[2]);
  CHECK(generate(folder, flags + "--seed 0").err.find("seed 0") != std::string::npos);
  CHECK(generate(folder, flags + "--top-k 3").code == 2);
}

TEST_CASE("a penalty's window is a flag") {
  const Folder folder;
  save_model(folder);
  const std::string flags = "--tokens 30 --prompt abcdefgh --temperature 0 --repetition-penalty 1.5";
  CHECK(generate(folder, flags + " --penalty-window 0").out == generate(folder, flags).out);
  CHECK(generate(folder, flags + " --penalty-window 2").out != generate(folder, flags).out);
}

// A program that takes NaN for a small number writes token 0 for ever.
TEST_CASE("a model whose logits are no numbers is an error, not a text") {
  const Folder folder;
  nn::Decoder decoder = save_model(folder);
  decoder.norm.gain.mutable_values()[0] = std::numeric_limits<Real>::quiet_NaN();
  nn::save_model(folder.path / "model", decoder, nn::CharTokenizer::of_text(letters));
  for (const char* flags : {"--temperature 0", "--temperature 1", "--llama2c-random", "--top 3"}) {
    const Result result = generate(folder, std::string("--prompt a ") + flags);
    CHECK(result.code == 1);
    CHECK(result.err.find("the logit of token 0 is nan") != std::string::npos);
  }
}

TEST_CASE("a text ends at the end token, which is not shown, unless it is ignored; a prompt that spells it stays text unless allowed") {
  const Folder folder;
  const std::string words = folder / "tokenizer.json", model = folder / "run";
  for (int i = 0; i < 60; ++i) std::ofstream(folder / "texts.jsonl", std::ios::app) << "{\"text\": \"ab\"}\n";
  REQUIRE(run(folder, "tokenize train --vocab 257 --special '<|endoftext|>' --text " + folder / "texts.jsonl" + " --out " + words).code == 0);
  REQUIRE(run(folder, "train --preset book --context 8 --steps 150 --batch 8 --lr 0.01 --threads 1 --text " + folder / "texts.jsonl" +
                          " --tokenizer " + words + " --out " + model).code == 0);
  const auto generate = [&](const std::string& flags) { return run(folder, "generate --threads 1 --temperature 0 --model " + model + flags); };
  const Result ended = generate(" --prompt a --tokens 30");
  CHECK(ended.out == "ab\n");
  CHECK(ended.err.find("new 1 tokens") != std::string::npos);
  CHECK(generate(" --prompt a --tokens 30 --dump-ids").out == "97\n98 256\n");
  CHECK(generate(" --prompt a --tokens 4 --ignore-end").out == "ab<|endoftext|>ab\n");
  CHECK(generate(" --prompt '<|endoftext|>' --tokens 0 --dump-ids").out.starts_with("60 124 101 110 100"));
  CHECK(generate(" --prompt '<|endoftext|>' --allow-special --tokens 0 --dump-ids").out.starts_with("256\n"));
}

TEST_CASE("a GPT-2 folder writes and is compared like any model, and is refused where only a decoder will do") {
  const Folder folder;
  nn::GPT2 model({.vocab_size = 256, .width = 12, .n_layers = 2, .n_heads = 2, .context_length = context});
  Rng rng(5);
  for (nn::Parameter parameter : nn::parameters(model))
    for (Real& value : parameter.tensor.mutable_values()) value = static_cast<Real>(0.4 * rng.normal());
  std::filesystem::create_directory(folder / "gpt2");
  std::ofstream(folder / "gpt2/config.json") << R"({"architectures": ["GPT2LMHeadModel"], "n_embd": 12, "n_layer": 2,
    "n_head": 2, "n_positions": 32, "vocab_size": 256})";
  nn::write_safetensors(folder / "gpt2/model.safetensors", nn::stored(model, "transformer."));
  std::ofstream(folder / "gpt2/tokenizer.json") << nn::ByteTokenizer().to_json();

  const std::string flags = " --model " + folder / "gpt2";
  const std::vector<int> prompt = {'a', 'b'};
  const std::vector<int> expected = nn::generate(model, prompt, {.tokens = 40}, nn::make_sampler({}, Rng(3, 0)));
  for (const char* way : {"", " --no-cache", " --attention composed"}) {
    const Result ids = run(folder, "generate --tokens 40 --prompt ab --seed 3 --temperature 1 --dump-ids" + flags + way);
    CHECK_MESSAGE(ids.code == 0, ids.err);
    CHECK(numbers_of(lines_of(ids.out).at(1)) == expected);
  }
  // The files may name several tokens that end a text.
  const int end = expected[5];
  const auto behind = std::ranges::find(expected, end) + 1;
  std::ofstream(folder / "gpt2/generation_config.json") << R"({"eos_token_id": [)" << end << ", " << end << "]}";
  const Result ended = run(folder, "generate --tokens 40 --prompt ab --seed 3 --temperature 1 --dump-ids" + flags);
  CHECK(numbers_of(lines_of(ended.out).at(1)) == std::vector(expected.begin(), behind));

  // A model may have more rows than its tokenizer has tokens; those are neither drawn nor shown.
  std::ofstream(folder / "gpt2/tokenizer.json") << nn::CharTokenizer::of_text("ab").to_json();
  std::ofstream(folder / "gpt2/generation_config.json") << "{}";
  for (const char* flags_of : {" --top 256", " --tokens 40"}) {
    const Result known = run(folder, "generate --prompt ab" + flags + flags_of);
    CHECK_MESSAGE(known.code == 0, known.err);
  }

  CHECK(run(folder, "info --model " + folder / "gpt2").code == 0);
  const Result same = run(folder, "compare " + folder / "gpt2" + " " + folder / "gpt2");
  CHECK(same.out.find("largest difference   0.000e+00") != std::string::npos);
  const Result refused = run(folder, "convert " + folder / "gpt2" + " " + folder / "other.bin --to llama2c");
  CHECK(refused.code == 1);
  CHECK(refused.err.find("expected a decoder of the LLaMA family, found a GPT-2") != std::string::npos);
}
