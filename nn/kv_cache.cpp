#include "nn/kv_cache.h"

#include <algorithm>

#include "autograd/error.h"
#include "autograd/graph.h"

namespace gradus::nn {

KVCache::KVCache(const KVCacheSize& size, std::size_t batch, std::size_t capacity)
    : capacity_(capacity), lengths_(batch, 0) {
  const std::size_t width = size.n_kv_heads * size.head_dim;
  expect(size.n_layers > 0 && width > 0 && batch > 0 && capacity > 0,
         "kv_cache: {} layers, {} heads of {} numbers, {} rows of {} tokens: none of these may be 0", size.n_layers,
         size.n_kv_heads, size.head_dim, batch, capacity);
  for (std::size_t layer = 0; layer < size.n_layers; ++layer) {
    keys_.push_back(Tensor::zeros({batch, capacity, width}));
    values_.push_back(Tensor::zeros({batch, capacity, width}));
  }
}

std::size_t KVCache::length(std::size_t row) const {
  expect(row < batch(), "kv_cache: there is no row {}; there are {}", row, batch());
  return lengths_[row];
}

void KVCache::clear() { std::ranges::fill(lengths_, 0); }

// One buffer of the cache after another, so that no more than one is there twice.
void KVCache::keep_rows(std::span<const std::size_t> rows) {
  expect(!rows.empty(), "kv_cache: no row would be left; a cache that nobody needs can go as a whole");
  std::vector<std::size_t> lengths;
  for (std::size_t row : rows) lengths.push_back(length(row));
  for (std::vector<Tensor>* tensors : {&keys_, &values_})
    for (Tensor& tensor : *tensors) {
      const std::size_t width = tensor.extent(2), stride = capacity_ * width;
      Tensor kept = Tensor::zeros({rows.size(), capacity_, width});
      for (std::size_t i = 0; i < rows.size(); ++i)
        std::ranges::copy(tensor.values().subspan(rows[i] * stride, lengths[i] * width),
                          kept.mutable_values().data() + i * stride);
      tensor = kept;
    }
  lengths_ = lengths;
}

std::size_t KVCache::elements_per_token() const { return 2 * keys_.size() * keys_.front().extent(2); }

std::size_t KVCache::bytes() const { return elements_per_token() * batch() * capacity_ * sizeof(Real); }

// A token is new where the row's count goes up: its place is its position.
static void write_tokens(const Tensor& from, const TokenPlaces& places, std::span<const std::size_t> lengths,
                         Tensor& to) {
  const std::size_t time = from.extent(1), capacity = to.extent(1), width = to.extent(2);
  Real* const destination = to.mutable_values().data();
  for (std::size_t row = 0; row < lengths.size(); ++row) {
    std::size_t place = lengths[row];
    for (std::size_t token = row * time; token < (row + 1) * time; ++token) {
      if (static_cast<std::size_t>(places.visible[token]) == place) continue;
      std::ranges::copy(from.values().subspan(token * width, width), destination + (row * capacity + place++) * width);
    }
  }
}

void KVCache::append(std::size_t layer, const Tensor& key, const Tensor& value, const TokenPlaces& places) {
  expect(!grad_enabled(), "kv_cache: gradients are being recorded, and none goes back through a cache; put a NoGrad "
                          "guard around the call, or train without a cache");
  expect(layer < keys_.size(), "kv_cache: there is no layer {}; there are {}", layer, keys_.size());
  const Shape expected{batch(), places.visible.size() / batch(), keys_[layer].extent(2)};
  expect(key.shape() == expected && value.shape() == expected,
         "kv_cache: key {} and value {} must be {}; is the cache another model's?", key.shape(), value.shape(),
         expected);
  for (std::size_t row = 0; row < batch(); ++row)
    expect(places.length[row] <= capacity_,
           "kv_cache: row {} has {} tokens, {} more make {}, and the capacity is {}; make a larger cache, or clear it "
           "and read the last tokens again",
           row, lengths_[row], places.length[row] - lengths_[row], places.length[row], capacity_);
  write_tokens(key, places, lengths_, keys_[layer]);
  write_tokens(value, places, lengths_, values_[layer]);
}

}  // namespace gradus::nn
