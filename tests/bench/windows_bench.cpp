// Windows from a file of tokens against windows from memory: what reading with one call a window costs. Both must be far above
// the tokens/s of training (training_step_bench.cpp).
#include <benchmark/benchmark.h>

#include "nn/text/byte_tokenizer.h"
#include "optim/token_file.h"
#include "optim/windows.h"
#include "tests/nn/temporary_folder.h"

using namespace gradus;

static std::vector<int> tokens() {
  std::vector<int> ids(std::size_t{16} << 20);
  Rng rng(1);
  for (int& id : ids) id = static_cast<int>(rng.below(256));
  return ids;
}

static void draw(benchmark::State& state, std::shared_ptr<const optim::TokenSource> source) {
  optim::Windows windows(std::move(source), static_cast<std::size_t>(state.range(0)), 0, 1);
  std::size_t read = 0;
  for (auto _ : state) read += windows.training(16).inputs.size();
  state.counters["tokens/s"] = benchmark::Counter(static_cast<double>(read), benchmark::Counter::kIsRate);
}

static void from_memory(benchmark::State& state) { draw(state, std::make_shared<optim::TokensInMemory>(tokens())); }

static void from_file(benchmark::State& state) {
  const TemporaryFolder folder;
  const nn::ByteTokenizer tokenizer;
  optim::TokenFileWriter writer(folder / "tokens.bin", tokenizer);
  writer.write(tokens());
  writer.commit();
  draw(state, std::make_shared<optim::TokenFile>(folder / "tokens.bin", tokenizer));
}

BENCHMARK(from_memory)->Name("windows/memory")->ArgName("context")->Arg(64)->Arg(1024);
BENCHMARK(from_file)->Name("windows/file")->ArgName("context")->Arg(64)->Arg(1024);
