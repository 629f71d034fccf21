// A model of 100 MB is loaded in little more memory than it has numbers, in whatever form it is kept; a file that only
// says that it is large is refused in next to none.
//
//   load_memory         writes the files, runs itself on each and compares
//   load_memory PATH    loads the model and prints its own peak of memory in kilobytes and the seconds it took
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "autograd/error.h"
#include "nn/any_model.h"
#include "nn/hugging_face.h"
#include "nn/llama2c.h"
#include "nn/text/byte_tokenizer.h"
#include "tests/nn/temporary_folder.h"

using namespace gradus;

// The peak of this program alone: getrusage() counts the parent's before exec, too.
static long peak_kilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::atol(line.c_str() + 6);
  return -1;
}

static int load(const char* path) {
  const auto start = std::chrono::steady_clock::now();
  try {
    const nn::Decoder decoder = nn::load_any_decoder(path);
    std::printf("%ld ", peak_kilobytes());
  } catch (const FileError&) {
    std::printf("%ld ", peak_kilobytes());
  }
  std::printf("%f\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return 0;
}

static bool stays_below(double megabytes, const char* program, const std::filesystem::path& path) {
  std::FILE* pipe = popen((std::string(program) + " " + path.string()).c_str(), "r");
  long kilobytes = -1;
  double seconds = -1;
  const int read = std::fscanf(pipe, "%ld %lf", &kilobytes, &seconds);
  pclose(pipe);
  std::printf("%-14s %7.1f MB at the peak, at most %5.1f; %.3f s\n", path.filename().c_str(), static_cast<double>(kilobytes) / 1e3,
              megabytes, seconds);
  return read == 2 && kilobytes > 0 && static_cast<double>(kilobytes) * 1.024 < megabytes * 1e3;
}

static std::string header(std::initializer_list<std::int32_t> fields) {
  return {reinterpret_cast<const char*>(fields.begin()), fields.size() * sizeof(std::int32_t)};
}

int main(int count, char** words) {
  if (count == 2) return load(words[1]);
  const TemporaryFolder folder;
  double megabytes = 0;
  {
    nn::Decoder decoder({.vocab_size = 6000, .width = 512, .n_layers = 6, .n_heads = 8, .n_kv_heads = 8, .context_length = 256,
                         .tied_head = false});
    Rng rng(1);
    nn::initialise(decoder, rng);
    megabytes = static_cast<double>(nn::count_parameters(decoder) * sizeof(float)) / 1e6;
    nn::save_model(folder / "gradus", decoder, nn::ByteTokenizer());
    nn::write_hugging_face(folder / "hf", decoder);
    nn::write_hugging_face(folder / "hf-bf16", decoder, nullptr, nn::FloatFormat::bf16);
    nn::write_llama2c(folder / "llama2c.bin", decoder);
  }
  std::printf("a model of %.1f MB\n", megabytes);
  bool good = true;
  for (const char* name : {"gradus", "hf", "hf-bf16", "llama2c.bin"}) good &= stays_below(1.2 * megabytes, words[0], folder / name);

  folder.write("sizes.bin", header({2147483646, 2147483647, 2147483647, 1, 1, 2147483647, 2147483647}));
  std::filesystem::create_directory(folder / "length");
  folder.write("length/config.json", nn::config_to_hugging_face({}, {}, nn::FloatFormat::f32));
  folder.write("length/model.safetensors", std::string(7, '\0') + "\x7f{}");
  std::filesystem::create_directory(folder / "layers");
  nn::Config wide{.vocab_size = 2147483647, .width = 2147483646, .n_layers = 2147483647, .n_heads = 1, .n_kv_heads = 1};
  folder.write("layers/config.json", nn::config_to_hugging_face(wide, {}, nn::FloatFormat::f32));
  nn::write_safetensors(folder / "layers/model.safetensors", std::vector<NamedTensor>{{"w", Tensor::zeros({2})}});
  for (const char* name : {"sizes.bin", "length", "layers"}) good &= stays_below(64, words[0], folder / name);
  return good ? 0 : 1;
}
