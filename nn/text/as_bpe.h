// Any tokenizer as byte-pair encoding, which is what Hugging Face's tokenizer.json can say, and back to llama2c's form.
#pragma once

#include <filesystem>

#include "nn/text/bpe_tokenizer.h"
#include "nn/text/llama2c_tokenizer.h"

namespace gradus::nn {

// Bytes and characters are vocabularies without merges. llama2.c's tokenizer has a merge for every two pieces that spell
// a third, in the order of its score; its first three pieces become special tokens.
// Errors: ShapeError for a tokenizer that cannot be said so, as are characters with "▁", which stands for the space.
BpeModel as_bpe(const Tokenizer& tokenizer);

// tokenizer.bin for a tokenizer that llama2.c can have: its own, or one with <unk>, begin and end as ids 0 to 2, the
// bytes behind them, and pieces in the order of their merges, of which none is left out.
// Errors: ShapeError for any other, saying what it lacks; FileError for whatever the system says.
void write_llama2c_tokenizer(const std::filesystem::path& path, const Tokenizer& tokenizer);

}  // namespace gradus::nn
