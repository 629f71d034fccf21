// A long text as tokens, in memory or in a file: what windows are cut from.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace gradus::optim {

class TokenSource {
 public:
  virtual ~TokenSource() = default;
  virtual std::uint64_t size() const = 0;
  // The tokens from `begin` on, as many as there is room for. The range lies inside; the caller sees to it.
  virtual void read(std::uint64_t begin, std::span<int> tokens) const = 0;
};

class TokensInMemory : public TokenSource {
 public:
  explicit TokensInMemory(std::vector<int> tokens) : tokens_(std::move(tokens)) {}
  std::uint64_t size() const override { return tokens_.size(); }
  void read(std::uint64_t begin, std::span<int> tokens) const override {
    std::copy_n(tokens_.begin() + static_cast<std::ptrdiff_t>(begin), tokens.size(), tokens.begin());
  }

 private:
  std::vector<int> tokens_;
};

}  // namespace gradus::optim
