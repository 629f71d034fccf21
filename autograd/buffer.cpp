#include "autograd/buffer.h"

#include <algorithm>
#include <bit>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

namespace gradus {

// Under AddressSanitizer every buffer goes back to the system, so that a use after release is seen.
#if defined(__SANITIZE_ADDRESS__)
static constexpr bool reuse = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
static constexpr bool reuse = false;
#else
static constexpr bool reuse = true;
#endif
#else
static constexpr bool reuse = true;
#endif

static constexpr std::align_val_t alignment{64};

namespace {

struct Pool {
  std::mutex mutex;
  std::unordered_map<std::size_t, std::vector<void*>> waiting;  // bytes → blocks of that many bytes
  std::size_t reserved = 0;

  void* take(std::size_t bytes) {
    void* block = ::operator new(bytes, alignment, std::nothrow);
    if (block == nullptr) {
      release_waiting();
      block = ::operator new(bytes, alignment);
    }
    reserved += bytes;
    return block;
  }

  void release_waiting() {
    for (auto& [bytes, blocks] : waiting) {
      for (void* block : blocks) ::operator delete(block, alignment);
      reserved -= bytes * blocks.size();
      blocks.clear();
    }
  }
};

}  // namespace

// Never destroyed: a static tensor may outlive any object with a destructor.
static Pool& pool() {
  static Pool* const instance = new Pool;
  return *instance;
}

// Eight sizes to each power of two, so that at most an eighth of a block is wasted and similar sizes share.
static std::size_t block_bytes(std::size_t size) {
  const std::size_t bytes = size * sizeof(Real);
  const std::size_t step = std::max<std::size_t>(64, std::bit_floor(bytes) / 8);
  return std::max<std::size_t>(64, (bytes + step - 1) / step * step);
}

Buffer::Buffer(std::size_t size) : size_(size) {
  const std::size_t bytes = block_bytes(size);
  Pool& all = pool();
  const std::lock_guard lock(all.mutex);
  std::vector<void*>& blocks = all.waiting[bytes];
  if (blocks.empty()) {
    data_ = static_cast<Real*>(all.take(bytes));
  } else {
    data_ = static_cast<Real*>(blocks.back());
    blocks.pop_back();
  }
}

Buffer::~Buffer() {
  if (data_ == nullptr) return;
  const std::size_t bytes = block_bytes(size_);
  Pool& all = pool();
  const std::lock_guard lock(all.mutex);
  if (reuse) {
    all.waiting[bytes].push_back(data_);
  } else {
    ::operator delete(data_, alignment);
    all.reserved -= bytes;
  }
}

std::size_t buffer_bytes_reserved() {
  const std::lock_guard lock(pool().mutex);
  return pool().reserved;
}

void release_unused_buffers() {
  const std::lock_guard lock(pool().mutex);
  pool().release_waiting();
}

}  // namespace gradus
