// Memory for numbers: uninitialised, aligned to a cache line, and kept for the next buffer of its size.
//
// A training step asks for the same sizes again and again. Returning them to the system between steps would
// cost page faults that take longer than many of the operations themselves.
#pragma once

#include <cstddef>
#include <utility>

#include "autograd/real.h"

namespace gradus {

class Buffer {
 public:
  Buffer() = default;
  // `size` numbers, uninitialised. Errors: std::bad_alloc.
  explicit Buffer(std::size_t size);
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Buffer();

  Real* data() { return data_; }
  const Real* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool allocated() const { return data_ != nullptr; }

 private:
  Real* data_ = nullptr;
  std::size_t size_ = 0;
};

// Bytes taken from the system so far, whether in use or waiting to be reused.
std::size_t buffer_bytes_reserved();
// Gives the waiting memory back to the system.
void release_unused_buffers();

}  // namespace gradus
