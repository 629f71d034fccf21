// The keys and values of the tokens read so far, so that the next token costs its own work and not the whole text's.
//
// Rows are compact: padding is never kept, so the key at place p of a row is that of its token p, turned to position p,
// and rows may have different lengths. Keys and values are kept once for all the query heads that share them, so a
// token costs 2 · L · G · D numbers. The memory is taken once, and a call of the decoder writes behind what is there.
#pragma once

#include <span>
#include <vector>

#include "autograd/tensor.h"
#include "nn/context.h"

namespace gradus::nn {

// What a cache must know of a decoder: a Config converts to it.
struct KVCacheSize {
  std::size_t n_layers;    // L
  std::size_t n_kv_heads;  // G
  std::size_t head_dim;    // D
};

class KVCache {
 public:
  // For `batch` rows of at most `capacity` tokens each. Errors: one of the numbers is 0.
  KVCache(const KVCacheSize& size, std::size_t batch, std::size_t capacity);

  std::size_t batch() const { return lengths_.size(); }
  std::size_t capacity() const { return capacity_; }
  std::size_t length(std::size_t row) const;  // errors: no such row
  void clear();                               // every row has length 0 again
  // From now on row i is what rows[i] was, and there are no others: texts that have ended leave the batch.
  // Errors: no such row; no rows at all.
  void keep_rows(std::span<const std::size_t> rows);

  std::size_t elements_per_token() const;  // 2 · L · G · D
  std::size_t bytes() const;               // of all keys and values, used or not

  // What a call of a decoder does. Each layer appends its keys and values, (B, T, G·D), and reads the whole buffers,
  // (B, capacity, G·D), of which row b is good up to places.length[b]. The lengths count for the next call once
  // advance() was called, after the last layer, so a call that fails leaves the cache as it was.
  // Errors: gradients are being recorded; a row has more tokens than fit, naming both numbers; shapes that do not fit.
  void append(std::size_t layer, const Tensor& key, const Tensor& value, const TokenPlaces& places);
  const Tensor& keys(std::size_t layer) const { return keys_.at(layer); }
  const Tensor& values(std::size_t layer) const { return values_.at(layer); }
  void advance(const TokenPlaces& places) { lengths_ = places.length; }

 private:
  std::size_t capacity_;
  std::vector<std::size_t> lengths_;   // B
  std::vector<Tensor> keys_, values_;  // L of (B, capacity, G·D)
};

}  // namespace gradus::nn
