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
#include <vector>

#include "nn/decoder.h"

namespace gradus::nn {

// The file's tables, which no reader needs: each (seq_len, head_dim / 2). Whoever keeps them can write the file again
// byte for byte; angles that are computed anew differ from them by a rounding.
struct Llama2cTables {
  std::vector<float> cosine;
  std::vector<float> sine;
};

// The model of a file. The format fixes what the header does not say: adjacent pairs, theta 10000, epsilon 1e-5.
// Errors: FileError with the path, what was expected and what was found. The whole header and the file's exact size
// are checked before anything is allocated. The settings alone are had by reading the header.
Decoder read_llama2c(const std::filesystem::path& path, Llama2cTables* tables = nullptr);

Config read_llama2c_config(const std::filesystem::path& path);

// Writes a model, with those tables or, where they are empty, with computed ones. Rows of a model that pairs by halves
// are put in the other order. Errors: ShapeError for a model that is not what the format fixes, naming the setting;
// FileError for whatever the system says.
void write_llama2c(const std::filesystem::path& path, const Decoder& decoder, const Llama2cTables& tables = {});

}  // namespace gradus::nn
