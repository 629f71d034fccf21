#include "autograd/ops/rope.h"

#include <cmath>
#include <utility>
#include <vector>

#include "autograd/error.h"
#include "autograd/graph.h"
#include "autograd/parallel.h"

namespace gradus {

// angle(t, i) = t speed(i),   speed(i) = θ^(−2i/D) where nothing is scaled
RopeTable rope_table(std::size_t positions, std::size_t head_dim, double theta, const RopeScaling& scaling,
                     std::size_t context) {
  const std::vector<double> speeds = rope_speeds(head_dim, theta, scaling, context == 0 ? positions : context);
  const double factor = scaling.kind == RopeScalingKind::yarn ? scaling.attention_factor : 1;
  const std::size_t half = head_dim / 2;
  RopeTable table{Tensor({positions, half}), Tensor({positions, half})};
  Real* const C = table.cosine.mutable_values().data();
  Real* const S = table.sine.mutable_values().data();
  for (std::size_t i = 0; i < half; ++i)
    for (std::size_t t = 0; t < positions; ++t) {
      const double angle = static_cast<double>(t) * speeds[i];
      C[t * half + i] = static_cast<Real>(factor * std::cos(angle));
      S[t * half + i] = static_cast<Real>(factor * std::sin(angle));
    }
  return table;
}

// Where the two numbers of point i lie in a head.
template <RopePairing pairing>
static std::pair<std::size_t, std::size_t> point(std::size_t i, std::size_t half) {
  if constexpr (pairing == RopePairing::adjacent)
    return {2 * i, 2 * i + 1};
  else
    return {i, i + half};
}

// Calls body(first number of the head, cosines, sines) for each head of each token.
template <class Body>
static void for_each_head(const Tensor& x, const RopeTable& table, const std::vector<std::size_t>& positions,
                          const Body& body) {
  const std::size_t half = table.cosine.extent(1), width = x.shape().back();
  const Real* const C = table.cosine.values().data();
  const Real* const S = table.sine.values().data();
  parallel_for(positions.size(), 3 * width, [&](std::size_t begin, std::size_t end) {
    for (std::size_t token = begin; token < end; ++token)
      for (std::size_t head = token * width; head < (token + 1) * width; head += 2 * half)
        body(head, C + positions[token] * half, S + positions[token] * half);
  });
}

// A point (u, v) turned by the angle a:   (u cos a − v sin a, u sin a + v cos a)
// A table with an attention factor stretches it as well.
template <RopePairing pairing>
static void turn(const Tensor& x, const RopeTable& table, const std::vector<std::size_t>& positions, Tensor& y) {
  const std::size_t half = table.cosine.extent(1);
  const Real* const X = x.values().data();
  Real* const Y = y.mutable_values().data();
  for_each_head(x, table, positions, [&](std::size_t head, const Real* cosine, const Real* sine) {
    for (std::size_t i = 0; i < half; ++i) {
      const auto [first, second] = point<pairing>(i, half);
      const Real u = X[head + first], v = X[head + second];
      Y[head + first] = u * cosine[i] - v * sine[i];
      Y[head + second] = u * sine[i] + v * cosine[i];
    }
  });
}

// The Jacobian is the rotation R(a), and its transpose turns back by the same angle:   dx += R(a)ᵀ dy = R(−a) dy
template <RopePairing pairing>
static void turn_back(const Tensor& y, const Tensor& x, const RopeTable& table,
                      const std::vector<std::size_t>& positions) {
  if (!x.requires_grad()) return;
  const std::size_t half = table.cosine.extent(1);
  const Real* const DY = y.grad().data();
  Real* const DX = x.mutable_grad().data();
  for_each_head(x, table, positions, [&](std::size_t head, const Real* cosine, const Real* sine) {
    for (std::size_t i = 0; i < half; ++i) {
      const auto [first, second] = point<pairing>(i, half);
      const Real du = DY[head + first], dv = DY[head + second];
      DX[head + first] += du * cosine[i] + dv * sine[i];
      DX[head + second] += dv * cosine[i] - du * sine[i];
    }
  });
}

static Tensor rope_at(const Tensor& x, const RopeTable& table, RopePairing pairing,
                      std::vector<std::size_t> positions) {
  const std::size_t length = table.cosine.extent(0), head_dim = 2 * table.cosine.extent(1);
  expect(x.shape().back() % head_dim == 0,
         "rope: the last axis of x {} must be a whole number of heads of {} numbers, as the table has them", x.shape(),
         head_dim);
  for (std::size_t position : positions)
    expect(position < length, "rope: position {} is past the table, which has {} positions; make a longer one",
           position, length);

  const bool adjacent = pairing == RopePairing::adjacent;
  Tensor y(x.shape());
  (adjacent ? turn<RopePairing::adjacent> : turn<RopePairing::half>)(x, table, positions, y);
  return record(y, "rope", {x, table.cosine, table.sine},
                [x, table, adjacent, kept = std::move(positions)](const Tensor& out) {
                  (adjacent ? turn_back<RopePairing::adjacent> : turn_back<RopePairing::half>)(out, x, table, kept);
                });
}

static void expect_rank(const Tensor& x) {
  expect(x.rank() == 3, "rope: x {} must have three axes, (B, T, H · D)", x.shape());
}

Tensor rope(const Tensor& x, const RopeTable& table, RopePairing pairing, std::size_t position) {
  expect_rank(x);
  std::vector<std::size_t> positions(x.shape().rows());
  for (std::size_t token = 0; token < positions.size(); ++token) positions[token] = position + token % x.extent(1);
  return rope_at(x, table, pairing, std::move(positions));
}

Tensor rope(const Tensor& x, const RopeTable& table, RopePairing pairing, std::span<const int> positions) {
  expect_rank(x);
  expect(positions.size() == x.shape().rows(), "rope: {} positions for x {}, which has {} tokens; give one each",
         positions.size(), x.shape(), x.shape().rows());
  for (int position : positions) expect(position >= 0, "rope: position {} is negative", position);
  return rope_at(x, table, pairing, {positions.begin(), positions.end()});
}

}  // namespace gradus
