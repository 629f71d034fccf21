// llama2.c's tokenizers: what is accepted is written byte for byte as it was read, and encodes or refuses any text.
#include "nn/text/llama2c_tokenizer.h"

#include "nn/text/as_bpe.h"
#include "nn/text/text_file.h"
#include "tests/fuzz/target.h"

using namespace gradus;

FUZZ(bytes) {
  if (bytes.empty()) return;
  const std::size_t vocab_size = static_cast<unsigned char>(bytes[0]) * 2;  // which the file does not say
  bytes.remove_prefix(1);
  fuzz::expect_no_surprise([&] {
    const std::filesystem::path path = fuzz::as_file(bytes);
    const nn::Llama2cTokenizer tokenizer(path, vocab_size);
    try {
      tokenizer.decode(tokenizer.encode("Once upon a time \xF0\x9F\x90\xB1"));
      nn::BpeTokenizer(nn::as_bpe(tokenizer)).to_json();
    } catch (const ShapeError&) {
    }
    tokenizer.write(path);
    fuzz::require(nn::read_text_file(path, "a tokenizer") == bytes);
  });
}
