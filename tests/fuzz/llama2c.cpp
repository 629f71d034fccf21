// llama2.c's checkpoints: what is accepted is written byte for byte as it was read.
#include "nn/llama2c.h"

#include "nn/text/text_file.h"
#include "tests/fuzz/target.h"

using namespace gradus;

FUZZ(bytes) {
  fuzz::expect_no_surprise([&] {
    const std::filesystem::path path = fuzz::as_file(bytes);
    nn::Llama2cTables tables;
    const nn::Decoder decoder = nn::read_llama2c(path, &tables);
    nn::write_llama2c(path, decoder, tables);
    fuzz::require(nn::read_text_file(path, "a checkpoint") == bytes);
  });
}
