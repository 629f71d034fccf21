// Models of the llama2.c project: its first checkpoint format, "version 0", little-endian and without padding.
//
//   28 bytes   dim, hidden_dim, n_layers, n_heads, n_kv_heads, vocab_size, seq_len: signed 32-bit integers
//   floats     embedding, attention norms, queries, keys, values, outputs, feed-forward norms, gates, downs, ups,
//              final norm, tables of the rotary angles' cosines and sines, and the head unless it is tied
//
// A matrix is stored (out, in); a kind of which every layer has one is stored for all layers together. A vocab_size
// below 0 says that the head is a matrix of its own.
#pragma once

#include <filesystem>

#include "nn/decoder.h"

namespace gradus::nn {

// The model of a file. The format fixes what the header does not say: adjacent pairs, theta 10000, epsilon 1e-5.
// Errors: FileError with the path, what was expected and what was found. The whole header and the file's exact size
// are checked before anything is allocated.
Decoder read_llama2c(const std::filesystem::path& path);

}  // namespace gradus::nn
