// The tool: flags in, plain option structs out. Text goes to standard output and nothing else does; everything said
// about the work goes to standard error. The exit code is 0 only when all went well.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#ifdef __linux__
#include <unistd.h>
#endif

#include "chapters/gradus/audit.h"
#include "chapters/gradus/chat.h"
#include "chapters/gradus/compare.h"
#include "chapters/gradus/convert.h"
#include "chapters/gradus/generate.h"
#include "chapters/gradus/info.h"
#include "chapters/gradus/plot.h"
#include "chapters/gradus/tokenize.h"
#include "chapters/gradus/train.h"

using namespace gradus::tool;

static constexpr std::size_t most = std::size_t{1} << 40;

static void add_train(CLI::App& app, TrainOptions& o) {
  CLI::App& sub = *app.add_subcommand("train", "Train a decoder on text and save it as a folder");
  sub.add_option("--text", o.texts, "Text files to learn from: .txt, .jsonl, or folders of them; without it, the project's own stories");
  sub.add_option("--separator", o.separator, "A line that ends a document, as in <|endoftext|>; without it, a .txt file is one");
  sub.add_flag("--documents", o.documents, "A document a row, padded, instead of windows over all of them");
  sub.add_option("--data", o.conversations, "Conversations to learn the answers of: .jsonl files");
  sub.add_option("--template", o.chat_template, "How a conversation is written; default: the model's own")
      ->check(CLI::IsMember({"chatml", "llama2", "plain"}));
  sub.add_option("--preset", o.preset, "Model and training settings by name: see `gradus info`; default: stories");
  sub.add_option("--out", o.out, "The folder of a new run");
  sub.add_option("--resume", o.resume, "The folder of a run that goes on where its latest checkpoint stands");
  sub.add_option("--init", o.init, "A model to begin with, instead of random weights");
  sub.add_option("--tokenizer", o.tokenizer, "bytes, chars, or a tokenizer's file or folder; default: bytes");
  sub.add_option("--steps", o.steps, "Optimizer steps; default: the preset's")->check(CLI::Range(std::size_t{1}, most));
  sub.add_option("--batch", o.batch, "Rows that go through the decoder together; default: the preset's")
      ->check(CLI::Range(std::size_t{1}, std::size_t{65536}));
  sub.add_option("--accumulate", o.accumulate, "Such batches in a step; default: 1")
      ->check(CLI::Range(std::size_t{1}, std::size_t{65536}));
  sub.add_option("--context", o.context, "Tokens in a row; default: the preset's")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 20));
  sub.add_option("--lr", o.rate, "Peak learning rate; default: the preset's")->check(CLI::Range(1e-12, 1e12));
  sub.add_option("--schedule", o.schedule, "The rate's course behind the warm-up; default: cosine")
      ->check(CLI::IsMember({"cosine", "linear", "constant", "stable"}));
  sub.add_option("--eval-every", o.eval_every, "Steps between validations; default: an eighth of the steps")
      ->check(CLI::Range(std::size_t{1}, most));
  sub.add_option("--patience", o.patience, "Validations without a new best that end the run; 0: none do")
      ->check(CLI::Range(std::size_t{0}, most));
  sub.add_flag("--skip-bad-steps", o.skip_bad_steps, "Leave out a step whose loss or gradient is no number, and go on");
  sub.add_option("--save-every", o.save_every, "Steps between checkpoints, besides those at validations")
      ->check(CLI::Range(std::size_t{1}, most));
  sub.add_option("--sample", o.sample_tokens, "Tokens of a sample that is shown at validations; 0: none")
      ->check(CLI::Range(std::size_t{0}, std::size_t{65536}));
  sub.add_option("--attention", o.attention, "How attention is computed; default: fused")
      ->check(CLI::IsMember({"composed", "fused"}));
  sub.add_option("--seed", o.seed, "Of weights, rows and dropout; default: 1337");
  sub.add_option("--threads", o.threads, "0: as many as there are cores")
      ->check(CLI::Range(std::size_t{0}, std::size_t{1024}))
      ->capture_default_str();
  sub.callback([&] { train(o); });
}

static void add_generate(CLI::App& app, GenerateOptions& o) {
  CLI::App& sub = *app.add_subcommand("generate", "Let a model continue a text");
  sub.add_option("--model", o.model, "A folder that `gradus train` has written, a Hugging Face folder, or a llama2.c file")->required();
  sub.add_option("--tokenizer", o.tokenizer, "Its tokenizer's file or folder, where none is beside it");
  sub.add_option("--prompt", o.prompt, "The text to continue; without it, the start of a text");
  sub.add_option("--prompt-file", o.prompt_file, "A file with the text to continue; -: standard input")
      ->excludes("--prompt");
  sub.add_flag("--allow-special", o.allow_special, "A special token that the prompt spells is that token, not text");
  sub.add_option("--tokens", o.tokens, "New tokens at most; those past the context are slower: it slides")
      ->check(CLI::Range(std::size_t{0}, most))
      ->capture_default_str();
  sub.add_option("--samples", o.samples, "How many texts; number n draws from stream n - 1 of the seed")
      ->check(CLI::Range(std::size_t{1}, most))
      ->capture_default_str();
  sub.add_option("--temperature", o.temperature, "0: always the likeliest token; 1: as the model says; above: bolder")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  sub.add_option("--top-k", o.top_k, "Only the k likeliest tokens; 0: all")
      ->check(CLI::Range(std::size_t{0}, most))
      ->capture_default_str();
  sub.add_option("--top-p", o.top_p, "Only the likeliest tokens that together reach probability p; 1: all")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  sub.add_option("--min-p", o.min_p, "Only tokens at least this fraction as likely as the likeliest; 0: all")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  sub.add_option("--repetition-penalty", o.repetition_penalty, "Above 1, what was written becomes less likely; 1: off")
      ->check(CLI::Range(1e-6, 1e6))
      ->capture_default_str();
  sub.add_option("--penalty-window", o.penalty_window, "How many of the last tokens the penalty looks at; 0: all")
      ->check(CLI::Range(std::size_t{0}, most))
      ->capture_default_str();
  sub.add_flag("--valid-utf8", o.valid_utf8, "Draw no token that would break a character");
  sub.add_flag("--llama2c-random", o.llama2c_random, "Draw as llama2.c does; sample number n has seed + n - 1")
      ->excludes("--top-k")
      ->excludes("--min-p")
      ->excludes("--repetition-penalty");
  sub.add_flag("--ignore-end", o.ignore_end, "Write on behind the end of a text");
  sub.add_option("--stop", o.stops, "The text ends before this; may be given several times")->allow_extra_args(false);
  sub.add_flag("--dump-ids", o.dump_ids, "Ids in place of text: a line of the prompt's, then one of the new for each sample");
  sub.add_option("--dump-logits", o.dump_logits, "A file for what each token was drawn from: rows of vocab_size float32");
  sub.add_option("--top", o.top, "In place of text the so many likeliest next tokens, with their probabilities")
      ->check(CLI::Range(std::size_t{1}, most))
      ->excludes("--samples")
      ->excludes("--llama2c-random")
      ->excludes("--valid-utf8")
      ->excludes("--stop")
      ->excludes("--dump-ids")
      ->excludes("--dump-logits");
  sub.add_flag("--no-cache", o.no_cache, "Read the whole text again for every token: the same text, slower");
  sub.add_option("--attention", o.attention, "How attention is computed; default: as the model was trained")
      ->check(CLI::IsMember({"composed", "fused"}));
  sub.add_option("--seed", o.seed, "The same seed gives the same text")->capture_default_str();
  sub.add_option("--threads", o.threads, "0: as many as there are cores")
      ->check(CLI::Range(std::size_t{0}, std::size_t{1024}))
      ->capture_default_str();
  sub.callback([&] { generate(o); });
}

static void add_info(CLI::App& app, InfoOptions& o) {
  CLI::App& sub = *app.add_subcommand("info", "Describe a preset, a model or this machine");
  sub.add_option("--preset", o.preset, "A preset's settings and parameters; an unknown name lists those there are");
  sub.add_option("--model", o.model, "A model's folder, or a llama2.c file");
  sub.add_flag("--machine", o.machine, "The library, its flavour, the matrix kernel and the threads");
  sub.callback([&] { info(o); });
}

static void add_plot(CLI::App& app, PlotOptions& o) {
  CLI::App& sub = *app.add_subcommand("plot", "Draw the losses of runs, in the terminal or as a picture");
  sub.add_option("runs", o.runs, "Folders of runs, or their metrics.csv")->required();
  sub.add_option("--out", o.out, "A file for the picture, in SVG; without it, the terminal");
  sub.add_option("--floor", o.floor, "A loss to compare with, in nats per token");
  sub.callback([&] { plot(o); });
}

static void add_audit(CLI::App& app, AuditOptions& o) {
  CLI::App& sub = *app.add_subcommand("audit", "Show the tokens and targets that training would take, and which count");
  sub.add_option("--text", o.data.texts, "As for train");
  sub.add_option("--separator", o.data.separator, "As for train");
  sub.add_flag("--documents", o.data.documents, "As for train");
  sub.add_option("--data", o.data.conversations, "As for train");
  sub.add_option("--template", o.data.chat_template, "As for train")->check(CLI::IsMember({"chatml", "llama2", "plain"}));
  sub.add_option("--init", o.data.init, "The model whose tokenizer and template are used");
  sub.add_option("--tokenizer", o.data.tokenizer, "As for train");
  sub.add_option("--context", o.data.context, "As for train")->check(CLI::Range(std::size_t{1}, std::size_t{1} << 20));
  sub.add_option("--seed", o.data.seed, "As for train");
  sub.add_option("--rows", o.rows, "How many rows are shown")->check(CLI::Range(std::size_t{0}, most))->capture_default_str();
  sub.callback([&] { audit(o); });
}

static void add_chat(CLI::App& app, ChatOptions& o) {
  CLI::App& sub = *app.add_subcommand("chat", "Talk to a model: a line on standard input is a message");
  sub.add_option("--model", o.model, "A model with a chat template")->required();
  sub.add_option("--template", o.chat_template, "Instead of the model's own")->check(CLI::IsMember({"chatml", "llama2", "plain"}));
  sub.add_option("--system", o.system, "What the model is told before the conversation");
  sub.add_option("--tokens", o.tokens, "Of an answer, at most")->check(CLI::Range(std::size_t{1}, most))->capture_default_str();
  sub.add_option("--temperature", o.sampler.temperature, "0: always the likeliest token")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  sub.add_option("--top-k", o.sampler.top_k, "Only the k likeliest tokens; 0: all")->check(CLI::Range(std::size_t{0}, most));
  sub.add_option("--top-p", o.sampler.top_p, "Only the likeliest tokens that together reach probability p; 1: all")
      ->check(CLI::Range(0.0, 1.0));
  sub.add_option("--min-p", o.sampler.min_p, "Only tokens at least this fraction as likely as the likeliest; 0: all")
      ->check(CLI::Range(0.0, 1.0));
  sub.add_option("--repetition-penalty", o.sampler.repetition_penalty, "Above 1, what was written becomes less likely; 1: off")
      ->check(CLI::Range(1e-6, 1e6));
  sub.add_option("--seed", o.seed, "The same seed gives the same answers")->capture_default_str();
  sub.add_option("--threads", o.threads, "0: as many as there are cores")->check(CLI::Range(std::size_t{0}, std::size_t{1024}));
  sub.callback([&] { chat(o); });
}

static void add_tokenize(CLI::App& app, TokenizeOptions& o) {
  CLI::App& group = *app.add_subcommand("tokenize", "Learn a tokenizer, or see what one makes of a text");
  group.require_subcommand(1);
  CLI::App& train = *group.add_subcommand("train", "Learn the merges of a byte-level tokenizer from text");
  train.add_option("--text", o.texts, "Text files to learn from: .txt, .jsonl, or folders of them")->required();
  train.add_option("--separator", o.separator, "A line that ends a document, and is not learnt from");
  train.add_option("--vocab", o.vocab, "Tokens: 256 bytes, the merges, the special ones")
      ->check(CLI::Range(std::size_t{256}, std::size_t{1} << 24))
      ->required();
  train.add_option("--pattern", o.pattern, "How a text is cut into words, which no token crosses")
      ->check(CLI::IsMember({"gpt2", "llama3", "qwen2", "none"}))
      ->capture_default_str();
  train.add_option("--special", o.specials, "Special tokens, as in \"<|endoftext|>\", which ends a text");
  train.add_option("--out", o.out, "The file that it goes to, a tokenizer.json")->required();
  train.callback([&] { tokenize_train(o); });

  const auto add = [&](const char* name, const char* what, void (*run)(const TokenizeOptions&), bool reads_text) {
    CLI::App& sub = *group.add_subcommand(name, what);
    sub.add_option("--tokenizer", o.tokenizer,
                   "A tokenizer.json, vocab.json or tokenizer.bin, a folder with one, or the word bytes")
        ->capture_default_str();
    if (reads_text) sub.add_flag("--allow-special", o.allow_special, "A text that spells a special token becomes that token");
    sub.callback([&o, run] { run(o); });
  };
  add("encode", "Text on standard input, ids on standard output", tokenize_encode, true);
  add("decode", "Ids on standard input, exactly their text on standard output", tokenize_decode, false);
  add("inspect", "Text on standard input; a line for each token: its id, the token, its bytes", tokenize_inspect, true);
}

static void add_convert(CLI::App& app, ConvertOptions& o) {
  CLI::App& sub = *app.add_subcommand("convert", "Write a model in another form");
  sub.add_option("in", o.in, "A folder of ours, a Hugging Face folder, or a llama2.c file")->required();
  sub.add_option("out", o.out, "A new folder, or a new .bin")->required();
  sub.add_option("--to", o.to, "The new form")->required()->check(CLI::IsMember({"gradus", "hf", "llama2c"}));
  sub.add_option("--tokenizer", o.tokenizer, "Its tokenizer's file or folder, where none is beside it");
  sub.add_option("--dtype", o.dtype, "How numbers are kept; the 16-bit ones are rounded")
      ->check(CLI::IsMember({"f32", "bf16", "f16"}))
      ->capture_default_str();
  sub.callback([&] { convert(o); });
}

static void add_compare(CLI::App& app, CompareOptions& o) {
  CLI::App& sub = *app.add_subcommand("compare", "The largest difference of two models' logits along a text");
  sub.add_option("a", o.a, "A model in any form")->required();
  sub.add_option("b", o.b, "Another")->required();
  sub.add_option("--text", o.text, "A file with the text; without it, random tokens");
  sub.add_option("--tokenizer", o.tokenizer, "The text's tokenizer, where none is beside a model");
  sub.add_option("--tokens", o.tokens, "How many tokens of the text")->check(CLI::Range(std::size_t{1}, most))->capture_default_str();
  sub.add_flag("--positions", o.positions, "A line for each position");
  sub.callback([&] { compare(o); });
}

// How many letters must be put in, taken out or exchanged to turn one word into the other.
static std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t exchanged = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, exchanged});
    }
  }
  return row.back();
}

// " Did you mean --rate?" for the nearest flag of the subcommand in use, if one is near.
static std::string suggestion(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* sub = &app;
  while (!sub->get_subcommands().empty()) sub = sub->get_subcommands().front();
  for (const std::string& word : words) {
    const std::string flag = word.substr(0, word.find('='));
    if (!flag.starts_with("--")) continue;
    std::string nearest;
    for (const CLI::Option* option : sub->get_options())
      if (const std::string name = option->get_name(); nearest.empty() || distance(flag, name) < distance(flag, nearest))
        nearest = name;
    if (nearest != flag && distance(flag, nearest) <= 3) return " Did you mean " + nearest + "?";
  }
  return "";
}

// GNU OpenMP's threads wait for each other by spinning, for so long that a run beside another program takes up to ten times
// as long. A short spin, then sleep, costs nothing on a quiet machine. The library reads the setting before main begins.
static void wait_politely([[maybe_unused]] char** words) {
#ifdef __linux__
  if (std::getenv("GOMP_SPINCOUNT") != nullptr || std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  setenv("GOMP_SPINCOUNT", "1000", 1);
  execv("/proc/self/exe", words);  // where that cannot be, the run is only slower
#endif
}

int main(int count, char** words) {
  wait_politely(words);
  CLI::App app("Gradus: train a language model of your own, and let it write.", "gradus");
  app.require_subcommand(1);
  TrainOptions train_options;
  GenerateOptions generate_options;
  InfoOptions info_options;
  PlotOptions plot_options;
  AuditOptions audit_options;
  ChatOptions chat_options;
  add_train(app, train_options);
  add_generate(app, generate_options);
  add_info(app, info_options);
  add_plot(app, plot_options);
  add_audit(app, audit_options);
  add_chat(app, chat_options);
  TokenizeOptions tokenize_options;
  add_tokenize(app, tokenize_options);
  ConvertOptions convert_options;
  CompareOptions compare_options;
  add_convert(app, convert_options);
  add_compare(app, compare_options);
  try {
    app.parse(count, words);
    return 0;
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& problem) {
    std::fprintf(stderr, "gradus: %s%s\n", problem.what(), suggestion(app, {words + 1, words + count}).c_str());
    std::fprintf(stderr, "`gradus --help` and `gradus %s --help` list what there is.\n",
                 count > 1 && words[1][0] != '-' ? words[1] : "train");
    return 2;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "gradus: %s\n", problem.what());
    return 1;
  }
}
