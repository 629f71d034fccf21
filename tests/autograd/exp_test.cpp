#include "autograd/exp.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace gradus;

// The distance to the exact value in units of the last place of the float next to it.
static double error_in_last_places(float x) {
  const double exact = std::exp(static_cast<double>(x));
  const float nearest = static_cast<float>(exact);
  if (std::isinf(nearest) || std::isinf(fast_exp(x))) return nearest == fast_exp(x) ? 0 : INFINITY;
  const double place = static_cast<double>(std::nextafter(nearest, INFINITY)) - static_cast<double>(nearest);
  return std::abs(static_cast<double>(fast_exp(x)) - exact) / std::min(place, 0x1p104);
}

TEST_CASE("fast_exp is within two units in the last place from the smallest subnormal result to the largest number") {
  double worst = 0;
  for (int i = -106 * 4096; i <= 89 * 4096; ++i)
    worst = std::max(worst, error_in_last_places(static_cast<float>(i) / 4096));
  for (float x = 1; x > 1e-40f; x *= 0.7f) worst = std::max({worst, error_in_last_places(x), error_in_last_places(-x)});
  CHECK(worst <= 2);
}

TEST_CASE("fast_exp's results below the normal numbers are rounded, not flushed") {
  CHECK(fast_exp(-103.0f) == std::numeric_limits<float>::denorm_min());
  CHECK(fast_exp(-90.0f) > 0);
  CHECK(fast_exp(-104.0f) == 0);
}

TEST_CASE("fast_exp knows the infinities, both zeros and NaN") {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(fast_exp(-infinity) == 0);
  CHECK(fast_exp(infinity) == infinity);
  CHECK(fast_exp(std::numeric_limits<float>::max()) == infinity);
  CHECK(fast_exp(std::numeric_limits<float>::lowest()) == 0);
  CHECK(fast_exp(0.0f) == 1);
  CHECK(fast_exp(-0.0f) == 1);
  CHECK(fast_exp(std::numeric_limits<float>::denorm_min()) == 1);
  CHECK(std::isnan(fast_exp(nan)));
  CHECK(std::isnan(fast_exp(-nan)));
  CHECK(fast_exp(88.72283f) < infinity);
  CHECK(fast_exp(88.73f) == infinity);
}

TEST_CASE("fast_exp never falls as x grows") {
  float before = 0;
  for (int i = -105 * 512; i <= 90 * 512; ++i) {
    const float now = fast_exp(static_cast<float>(i) / 512);
    CHECK_MESSAGE(now >= before, i);
    before = now;
  }
}

TEST_CASE("fast_exp of a double is std::exp") { CHECK(fast_exp(1.5) == std::exp(1.5)); }
