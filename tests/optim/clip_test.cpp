#include "optim/clip.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "autograd/error.h"
#include "nn/safetensors.h"

using namespace gradus;
using namespace gradus::optim;

static const bool doubles = sizeof(Real) == 8;

static Tensor with_grad(const Tensor& gradient) {
  const Tensor parameter = Tensor::zeros(gradient.shape()).set_requires_grad();
  std::ranges::copy(gradient.values(), parameter.mutable_grad().begin());
  return parameter;
}

TEST_CASE("the gradient norm is that of all gradients as one vector") {
  const std::vector<Tensor> parameters = {with_grad(Tensor({2}, {3, 0})), with_grad(Tensor({1, 1}, {-4})),
                                          Tensor({7}).set_requires_grad()};
  CHECK(gradient_norm(parameters) == 5);
  CHECK(gradient_norm({}) == 0);
}

TEST_CASE("the gradient norm of the largest floats is finite") {
  const Tensor largest = with_grad(Tensor::full({1000}, std::numeric_limits<float>::max()));
  CHECK(gradient_norm(std::vector{largest}) ==
        doctest::Approx(std::numeric_limits<float>::max() * std::sqrt(1000.0)));
}

TEST_CASE("clipping shortens long gradients to the limit, keeps their direction, and leaves short ones") {
  const std::vector<Tensor> parameters = {with_grad(Tensor({1}, {3})), with_grad(Tensor({1}, {4}))};
  CHECK(clip_grad_norm(parameters, 10) == 5);
  CHECK(parameters[0].grad()[0] == 3);
  CHECK(clip_grad_norm(parameters, 1) == 5);
  CHECK(gradient_norm(parameters) == doctest::Approx(1).epsilon(1e-6));
  CHECK(gradient_norm(parameters) <= 1);
  CHECK(parameters[0].grad()[0] / parameters[1].grad()[0] == doctest::Approx(0.75));
}

TEST_CASE("a limit of 0 switches clipping off; a negative one and NaN are refused") {
  const std::vector<Tensor> parameters = {with_grad(Tensor({1}, {3}))};
  CHECK(clip_grad_norm(parameters, 0) == 3);
  CHECK(parameters[0].grad()[0] == 3);
  CHECK_THROWS_WITH_AS(clip_grad_norm(parameters, -1),
                       "clip_grad_norm: a norm of at most -1 cannot be reached; use a positive one, or 0 for off",
                       ShapeError);
  CHECK_THROWS_AS(clip_grad_norm(parameters, std::numeric_limits<double>::quiet_NaN()), ShapeError);
}

TEST_CASE("gradients with a norm that is not finite stay as they are, and the norm says so") {
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  const std::vector<Tensor> parameters = {with_grad(Tensor({2}, {1, infinity})), with_grad(Tensor({1}, {2}))};
  CHECK(clip_grad_norm(parameters, 1) == std::numeric_limits<double>::infinity());
  CHECK(parameters[0].grad()[0] == 1);
  CHECK(parameters[0].grad()[1] == infinity);
  CHECK(parameters[1].grad()[0] == 2);
  const std::vector<Tensor> nan = {with_grad(Tensor({2}, {1, std::numeric_limits<Real>::quiet_NaN()}))};
  CHECK(std::isnan(clip_grad_norm(nan, 1)));
  CHECK(nan[0].grad()[0] == 1);
}

TEST_CASE("clipping agrees with PyTorch") {
  const auto path = std::filesystem::path(GRADUS_SHARED_DIR) / "golden/optim.clip_grad_norm.safetensors";
  if (!std::filesystem::exists(path)) {
    MESSAGE("skipped: " << path.string() << " is not there");
    return;
  }
  const double tolerance = doubles ? 1e-12 : 1e-5;
  const nn::SafetensorsFile file(path);
  for (const auto& settings : nlohmann::json::parse(file.metadata().at("cases"))) {
    if (settings["norm_type"] != "2.0" || settings["special"] == "inf" || settings["special"] == "nan") continue;
    const std::string prefix = message("c{}/", settings["case"].get<int>());
    CAPTURE(prefix);
    const std::size_t count = settings["n"];
    std::vector<Tensor> parameters;
    for (std::size_t i = 0; i < count; ++i) parameters.push_back(with_grad(file.read(message("{}g{}", prefix, i))));
    const double norm = clip_grad_norm(parameters, settings["max_norm"]);
    CHECK(norm == doctest::Approx(static_cast<double>(file.read(prefix + "total_norm").item())).epsilon(tolerance));
    for (std::size_t i = 0; i < count; ++i) {
      const Tensor expected = file.read(message("{}g{}.clipped", prefix, i));
      for (std::size_t j = 0; j < expected.size(); ++j)
        REQUIRE(std::abs(static_cast<double>(parameters[i].grad()[j] - expected.values()[j])) <= tolerance);
    }
  }
}
