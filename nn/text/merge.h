// The inner loop of byte-pair encoding: neighbours become one, the cheapest pair of the whole list first.
//
// A queue holds all pairs that could be merged, and a list says who is whose neighbour. A merge makes at most two new
// pairs, and leaves behind pairs that no longer exist: whoever takes one from the queue sees that its ids have changed.
// So n ids take n log n steps, where looking for the best pair again after each merge would take n².
#pragma once

#include <cstddef>
#include <optional>
#include <queue>
#include <vector>

namespace gradus::nn {

// What two neighbours become. The lowest cost is merged first, the leftmost among equals.
struct Merge {
  double cost;
  int id;
};

// find(left, right) is the Merge of two ids, or nullopt.
template <class Find>
std::vector<int> merge_neighbours(std::vector<int> ids, const Find& find) {
  struct Pair {
    double cost;
    std::size_t left;  // a place in ids
    int left_id, right_id, merged_id;
    bool operator<(const Pair& other) const { return cost != other.cost ? cost > other.cost : left > other.left; }
  };
  constexpr int gone = -1;
  const std::size_t end = ids.size();
  std::vector<std::size_t> before(end), after(end);
  std::priority_queue<Pair> pairs;
  const auto consider = [&](std::size_t left, std::size_t right) {
    if (const std::optional<Merge> merge = find(ids[left], ids[right]))
      pairs.push({merge->cost, left, ids[left], ids[right], merge->id});
  };
  for (std::size_t i = 0; i < end; ++i) {
    before[i] = i - 1;  // never used for the first
    after[i] = i + 1;
    if (i > 0) consider(i - 1, i);
  }

  while (!pairs.empty()) {
    const auto [cost, left, left_id, right_id, merged_id] = pairs.top();
    pairs.pop();
    const std::size_t right = after[left];
    if (ids[left] != left_id || right == end || ids[right] != right_id) continue;
    ids[left] = merged_id;
    ids[right] = gone;
    after[left] = after[right];
    if (after[left] < end) {
      before[after[left]] = left;
      consider(left, after[left]);
    }
    if (left > 0) consider(before[left], left);
  }
  std::erase(ids, gone);
  return ids;
}

}  // namespace gradus::nn
