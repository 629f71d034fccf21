// Writes what the fuzzers begin with, a folder for each target: small files by the library's own writers, and, where
// the shared data is there, other people's.
#include <fstream>
#include <iterator>
#include <string>

#include "nn/any_model.h"
#include "nn/config_file.h"
#include "nn/hugging_face.h"
#include "nn/llama2c.h"
#include "nn/text/as_bpe.h"
#include "nn/text/byte_tokenizer.h"
#include "nn/text/char_tokenizer.h"
#include "nn/text/text_file.h"

using namespace gradus;
using namespace gradus::nn;
namespace fs = std::filesystem;

int main(int, char** words) {
  const fs::path out = words[1], data = fs::path(GRADUS_SHARED_DIR) / "data";
  const auto write = [&](const fs::path& name, const std::string& bytes) {
    fs::create_directories((out / name).parent_path());
    std::ofstream(out / name, std::ios::binary) << bytes;
  };
  const auto copy = [&](const fs::path& name, const fs::path& from, const std::string& before = "") {
    if (fs::exists(from)) write(name, before + read_text_file(from, "a seed"));
  };
  const Config small{.vocab_size = 5, .width = 4, .n_layers = 1, .n_heads = 2, .n_kv_heads = 1, .hidden = 3,
                     .context_length = 4};
  Config yarn = small, untied = small;
  yarn.rope_scaling = {.kind = RopeScalingKind::yarn, .factor = 4, .original_context = 2};
  untied.tied_head = false;
  Decoder decoder(untied), tied(small);
  Rng rng(1);
  initialise(decoder, rng);
  initialise(tied, rng);

  write("config/small", config_to_json(small));
  write("config/yarn", config_to_json(yarn));
  write("hugging_face_config/small", config_to_hugging_face(small, {}, FloatFormat::f32));
  write("hugging_face_config/yarn", R"({"architectures": ["Qwen2ForCausalLM"], "vocab_size": 5, "hidden_size": 64,
    "intermediate_size": 3, "num_hidden_layers": 1, "num_attention_heads": 1, "num_key_value_heads": 1,
    "max_position_embeddings": 4096, "rms_norm_eps": 1e-6, "rope_theta": 1e4,
    "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024}})");
  write("hugging_face_config/gpt2", R"({"architectures": ["GPT2LMHeadModel"], "activation_function": "gelu_new",
    "n_embd": 8, "n_layer": 2, "n_head": 2, "n_positions": 16, "vocab_size": 11, "layer_norm_epsilon": 1e-05})");
  fs::create_directories(out / "llama2c");
  write_llama2c(out / "llama2c/untied", decoder);
  write_llama2c(out / "llama2c/tied", tied);
  const std::vector<NamedTensor> tensors = {{"a", Tensor::scalar(1)}, {"b", Tensor::zeros({2, 3})}};
  fs::create_directories(out / "safetensors");
  for (const FloatFormat format : {FloatFormat::f32, FloatFormat::f64, FloatFormat::f16, FloatFormat::bf16})
    write_safetensors(out / "safetensors" / word_of(format), tensors, {}, format);
  write("safetensors_header/one",
        R"({"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"__metadata__":{"a":"b"}})");
  write("safetensors_header/two",
        R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"F4","shape":[0],"data_offsets":[4,4]}})");
  write("tokenizer_json/bytes", ByteTokenizer().to_json());
  write("tokenizer_json/chars", CharTokenizer::of_text("Once upon a time").to_json());
  write("tokenizer_json/bpe", BpeTokenizer(as_bpe(CharTokenizer::of_text("Once upon a time"))).to_json());
  const std::vector<Llama2cTokenizer::Piece> pieces = {{"<unk>", 0, -1}, {"\n<s>\n", 0, -1}, {"\n</s>\n", 0, -1},
                                                       {"a", 0, -1},     {" ", 0, -1},       {" a", -1, -1}};
  fs::create_directories(out / "llama2c_tokenizer");
  Llama2cTokenizer(pieces).write(out / "pieces");
  copy("llama2c_tokenizer/small", out / "pieces", "\x03");
  fs::remove(out / "pieces");

  for (const char* folder : {"safetensors/samples", "safetensors/vectors"})
    if (fs::exists(data / folder))
      for (const auto& file : fs::directory_iterator(data / folder))
        if (file.path().extension() == ".safetensors") {
          copy("safetensors" / file.path().filename(), file.path());
          const std::string bytes = read_text_file(file.path(), "a seed");
          if (bytes.size() > 8) write("safetensors_header" / file.path().filename(), bytes.substr(8));
        }
  copy("hugging_face_config/story656k", data / "story656k-hf/config.json");
  copy("hugging_face_config/stories260K", data / "stories260K/hf/config.json");
  copy("tokenizer_json/tok512", data / "stories260K/hf/tokenizer.json");
  copy("llama2c_tokenizer/tok512", data / "stories260K/tok512.bin", std::string(1, '\0'));
}
