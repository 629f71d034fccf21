#include "nn/context.h"

#include <doctest/doctest.h>

#include <vector>

#include "autograd/error.h"
#include "nn/kv_cache.h"

using namespace gradus;
using namespace gradus::nn;

using Columns = std::vector<std::size_t>;

TEST_CASE("positions count tokens, not columns") {
  const std::vector<int> valid = {1, 1, 1, 1,   // no padding
                                  0, 0, 1, 1,   // on the left
                                  1, 1, 0, 0,   // on the right
                                  0, 1, 0, 1};  // between
  const TokenPlaces places = token_places({.position = 3, .valid = valid}, 4, 4);
  const std::vector<int> position = {3, 4, 5, 6, /**/ 3, 4, 3, 4, /**/ 3, 4, 5, 6, /**/ 3, 3, 4, 4};
  const std::vector<int> visible = {4, 5, 6, 7, /**/ 3, 3, 4, 5, /**/ 4, 5, 5, 5, /**/ 3, 4, 4, 5};
  CHECK(places.position == position);
  CHECK(places.visible == visible);
  CHECK(places.length == Columns{7, 5, 5, 5});
}

TEST_CASE("the last token of a row is found from the mask, wherever the padding is") {
  const std::vector<int> valid = {1, 1, 1, 1, /**/ 0, 0, 1, 1, /**/ 1, 1, 0, 0, /**/ 0, 1, 1, 0, /**/ 1, 0, 1, 0};
  CHECK(last_tokens(valid, 5) == Columns{3, 3, 1, 2, 2});
  CHECK_THROWS_WITH_AS(last_tokens(std::vector<int>{1, 1, 0, 0}, 2), "last_tokens: row 1 has no token, only padding",
                       ShapeError);
  CHECK_THROWS_WITH_AS(last_tokens(std::vector<int>{1, 1, 1}, 2),
                       "last_tokens: a mask of 3 numbers is not 2 rows of equal length", ShapeError);
}

TEST_CASE("a context that contradicts itself or its call is refused") {
  KVCache cache({1, 1, 2}, 2, 8);
  const std::vector<int> valid(6, 1), additive{0, 0, -1000000000, 0};
  CHECK_THROWS_WITH_AS(token_places({.valid = valid}, 2, 4),
                       "context: valid has 6 numbers and must have one for each token of the call: 2 rows of 4 are 8",
                       ShapeError);
  CHECK_THROWS_WITH_AS(token_places({.valid = additive}, 2, 2),
                       "context: valid must hold 1 for a token and 0 for padding, nothing else; it is not added to the "
                       "scores",
                       ShapeError);
  CHECK_THROWS_WITH_AS(token_places({.cache = &cache}, 3, 4),
                       "context: the cache has 2 rows and the batch 3; a cache belongs to one batch", ShapeError);
  CHECK_THROWS_WITH_AS(token_places({.cache = &cache, .position = 5}, 2, 4),
                       "context: position is 5, and a cache was given; with a cache every row goes on behind its own "
                       "last token",
                       ShapeError);
}
