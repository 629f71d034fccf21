// Compiled without fused multiply-add (see CMakeLists.txt), so that every machine rounds alike.
#include "autograd/random.h"

#include <cmath>

#include "autograd/error.h"

namespace gradus {

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(product0)};
    key[0] += 0x9E3779B9;  // the golden ratio
    key[1] += 0xBB67AE85;  // √3 − 1
  }
  return counter;
}

static std::array<std::uint32_t, 4> block_of(std::uint64_t seed, std::uint64_t stream, std::uint64_t block) {
  return philox({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
                 static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)},
                {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
}

double RandomRange::uniform(std::uint64_t item) const {
  return block_of(seed_, stream_, first_block_ + item / 4)[item % 4] * 0x1p-32;
}

void RandomRange::fill(std::uint64_t first, std::span<double> numbers) const {
  std::size_t i = 0;
  for (; i + 4 <= numbers.size(); i += 4) {
    const std::array<std::uint32_t, 4> block = block_of(seed_, stream_, first_block_ + (first + i) / 4);
    for (std::size_t j = 0; j < 4; ++j) numbers[i + j] = block[j] * 0x1p-32;
  }
  for (; i < numbers.size(); ++i) numbers[i] = uniform(first + i);
}

Rng::Rng(std::uint64_t seed, std::uint64_t stream) : state_{.seed = seed, .stream = stream} {}

Rng::Rng(const State& state) : state_(state) {
  expect(state.used == 4 || (state.used < 4 && state.block > 0),
         "random: a state with {} of 4 numbers used and {} blocks begun is damaged", state.used, state.block);
  if (state.used < 4) numbers_ = block_of(state.seed, state.stream, state.block - 1);
}

std::uint32_t Rng::bits() {
  if (state_.used == 4) {
    numbers_ = block_of(state_.seed, state_.stream, state_.block++);
    state_.used = 0;
  }
  return numbers_[state_.used++];
}

double Rng::uniform() { return bits() * 0x1p-32; }

std::uint64_t Rng::below(std::uint64_t bound) {
  expect(bound > 0, "random: there is no number below 0");
  // Draws from the incomplete last cycle of the bound would favour the small numbers.
  const std::uint64_t unfair = (0 - bound) % bound;
  for (;;) {
    const std::uint64_t high = bits();
    const std::uint64_t draw = high << 32 | bits();
    if (draw >= unfair) return draw % bound;
  }
}

RandomRange Rng::reserve(std::uint64_t items) {
  const RandomRange range(state_.seed, state_.stream, state_.block);
  state_.block += (items + 3) / 4;
  state_.used = 4;
  return range;
}

// ln x for x in (0, 1]: with x = m 2ᵉ and s = (m − 1)/(m + 1), ln m = 2 (s + s³/3 + s⁵/5 + …).
static double portable_log(double x) {
  int exponent;
  double mantissa = std::frexp(x, &exponent);  // [½, 1)
  if (mantissa < 0.70710678118654752) {
    mantissa *= 2;
    --exponent;
  }
  const double s = (mantissa - 1) / (mantissa + 1);
  double sum = 0;
  for (int power = 23; power >= 1; power -= 2) sum = sum * (s * s) + 1.0 / power;
  return exponent * 0.69314718055994531 + 2 * s * sum;
}

// cos 2πx for x in [0, 1): Taylor's series about the nearest quarter turn.
static double portable_cos_turns(double x) {
  const int quarter = static_cast<int>(x * 4 + 0.5);
  const double angle = (x - quarter * 0.25) * 6.28318530717958648;
  const double square = angle * angle;
  double cosine = 0, sine = 0;
  for (int n = 18; n >= 2; n -= 2) cosine = (1 + cosine) * -square / (n * (n - 1));
  for (int n = 19; n >= 3; n -= 2) sine = (1 + sine) * -square / (n * (n - 1));
  cosine = 1 + cosine;
  sine = angle * (1 + sine);
  switch (quarter % 4) {
    case 0: return cosine;
    case 1: return -sine;
    case 2: return -cosine;
    default: return sine;
  }
}

// Box and Muller (1958): a radius whose square is exponential, and a direction.
double Rng::normal() {
  const double radius = std::sqrt(-2 * portable_log(1 - uniform()));
  return radius * portable_cos_turns(uniform());
}

}  // namespace gradus
