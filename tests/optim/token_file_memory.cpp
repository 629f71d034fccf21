// A file of tokens of 3 GB is learnt from in the memory that one of 3 MB takes.
//
//   token_file_memory            makes both files, runs itself on each and compares
//   token_file_memory FILE       trains on the file and prints its own peak of memory in kilobytes
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "nn/text/byte_tokenizer.h"
#include "optim/token_file.h"
#include "optim/trainer.h"
#include "optim/windows.h"
#include "tests/nn/temporary_folder.h"

using namespace gradus;

static long peak_kilobytes_of_training(const std::filesystem::path& path) {
  nn::Decoder decoder({.width = 32, .n_layers = 2, .n_heads = 2, .n_kv_heads = 2, .context_length = 64});
  Rng rng(1);
  nn::initialise(decoder, rng);
  optim::Windows windows(std::make_shared<optim::TokenFile>(path, nn::ByteTokenizer()), 64, 0, 1);
  optim::train(decoder, windows, {.steps = 100, .batch = 8});
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// `tokens` tokens of 0 behind a header; the file system keeps no zeros.
static void make_file(const std::filesystem::path& path, std::uint64_t tokens) {
  optim::TokenFileWriter(path, nn::ByteTokenizer()).commit();
  std::FILE* file = std::fopen(path.c_str(), "r+b");
  std::fseek(file, 16, SEEK_SET);
  std::fwrite(&tokens, sizeof tokens, 1, file);
  std::fclose(file);
  std::filesystem::resize_file(path, 32 + 2 * tokens);
}

static long measured(const char* program, const std::filesystem::path& path) {
  std::FILE* pipe = popen((std::string(program) + " " + path.string()).c_str(), "r");
  long kilobytes = -1;
  if (std::fscanf(pipe, "%ld", &kilobytes) != 1) kilobytes = -1;
  pclose(pipe);
  return kilobytes;
}

int main(int count, char** words) {
  if (count == 2) {
    std::printf("%ld\n", peak_kilobytes_of_training(words[1]));
    return 0;
  }
  const TemporaryFolder folder;
  make_file(folder / "small", 1'500'000);
  make_file(folder / "large", 1'500'000'000);
  const long small = measured(words[0], folder / "small");
  const long large = measured(words[0], folder / "large");
  std::printf("peak memory: %ld kB with 3 MB of tokens, %ld kB with 3 GB\n", small, large);
  return small > 0 && large > 0 && large - small < 10 * 1024 ? 0 : 1;
}
