#include "optim/adamw.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "autograd/error.h"
#include "autograd/gradcheck.h"
#include "nn/safetensors.h"

using namespace gradus;
using namespace gradus::optim;

static const bool doubles = sizeof(Real) == 8;

static void set_grad(Tensor& parameter, std::span<const Real> values) {
  parameter.clear_grad();
  std::ranges::copy(values, parameter.mutable_grad().begin());
}

static void set_grad(Tensor& parameter, double value) {
  parameter.clear_grad();
  std::ranges::fill(parameter.mutable_grad(), static_cast<Real>(value));
}

static Tensor parameter_of(double value) { return Tensor::full({1}, value).set_requires_grad(); }

// Epsilon added before the correction would make this first step 3.07e-5.
TEST_CASE("adamw adds epsilon after the bias correction") {
  Tensor theta = parameter_of(1);
  AdamW adamw({{{theta}, 0}}, {.beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8});
  set_grad(theta, 1e-8);
  adamw.step(1e-3);
  CHECK(1 - static_cast<double>(theta.item()) == doctest::Approx(5e-4).epsilon(doubles ? 1e-9 : 1e-4));
}

TEST_CASE("adamw's first steps under a constant gradient are the rate, plus the decay") {
  Tensor theta = parameter_of(1);
  AdamW adamw({{{theta}, 0.01}}, {.beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8});
  set_grad(theta, 0.1);
  adamw.step(1e-3);
  CHECK(theta.item() == doctest::Approx(0.9989900001).epsilon(doubles ? 1e-10 : 1e-7));
  adamw.step(1e-3);
  CHECK(theta.item() == doctest::Approx(0.9979800103).epsilon(doubles ? 1e-10 : 1e-7));
  CHECK(adamw.steps() == 2);
}

TEST_CASE("a decay as a penalty is a part of the gradient, moments included") {
  Tensor decaying = parameter_of(2), plain = parameter_of(2);
  AdamW adam({{{decaying}, 0.1}}, {.decay = Decay::penalty}), other({{{plain}, 0}});
  for (double gradient : {0.3, -0.2, 0.0}) {
    set_grad(decaying, gradient);
    set_grad(plain, gradient + 0.1 * static_cast<double>(plain.item()));
    adam.step(0.01);
    other.step(0.01);
    CHECK(decaying.item() == doctest::Approx(plain.item()).epsilon(doubles ? 1e-14 : 1e-6));
  }
}

TEST_CASE("adamw's decay is multiplied by the rate and leaves the moments alone") {
  Tensor theta = parameter_of(1);
  AdamW adamw({{{theta}, 0.1}});
  set_grad(theta, 0.0);
  adamw.step(0.1);
  CHECK(theta.item() == doctest::Approx(0.99).epsilon(doubles ? 1e-15 : 1e-7));
  CHECK(adamw.states()[0].first_moment.item() == 0);
  CHECK(adamw.states()[0].second_moment.item() == 0);
}

TEST_CASE("adamw leaves a parameter without a gradient alone") {
  Tensor moved = parameter_of(1), still = parameter_of(2);
  AdamW adamw({{{moved, still}, 0.1}});
  set_grad(moved, 1);
  adamw.step(0.1);
  CHECK(moved.item() != 1);
  CHECK(still.item() == 2);
  CHECK(adamw.states()[1].second_moment.item() == 0);
}

TEST_CASE("adamw steps in proportion to the rate, whatever the scale of the gradients") {
  Tensor small = parameter_of(0), large = parameter_of(0);
  AdamW adamw({{{small, large}, 0}}, {.epsilon = 1e-30});
  for (int step = 0; step < 5; ++step) {
    set_grad(small, 1e-6 * (step + 1));
    set_grad(large, 1e+6 * (step + 1));
    adamw.step(0.01);
  }
  CHECK(small.item() == doctest::Approx(large.item()).epsilon(1e-6));
  CHECK(large.item() < -0.04);
}

TEST_CASE("adamw restored from its state takes the same steps, bit for bit") {
  Rng rng(3);
  const Tensor start = random_uniform({33}, rng);
  std::vector<Tensor> gradients;
  for (int step = 0; step < 6; ++step) gradients.push_back(random_uniform({33}, rng));
  Tensor straight = Tensor(start.shape(), start.values()).set_requires_grad();
  Tensor resumed = Tensor(start.shape(), start.values()).set_requires_grad();

  AdamW whole({{{straight}, 0.1}}), before({{{resumed}, 0.1}}), after({{{resumed}, 0.1}});
  for (std::size_t step = 0; step < 6; ++step) {
    set_grad(straight, gradients[step].values());
    whole.step(0.01);
    if (step == 3) {
      after.set_steps(before.steps());
      const AdamW::State& saved = before.states()[0];
      AdamW::State& restored = after.states()[0];
      std::ranges::copy(saved.first_moment.values(), restored.first_moment.mutable_values().begin());
      std::ranges::copy(saved.second_moment.values(), restored.second_moment.mutable_values().begin());
    }
    set_grad(resumed, gradients[step].values());
    (step < 3 ? before : after).step(0.01);
  }
  CHECK(std::ranges::equal(straight.values(), resumed.values()));
}

TEST_CASE("adamw's result does not depend on where the parallel loop cuts a tensor") {
  Rng rng(5);
  const Tensor start = random_uniform({1'000'003}, rng), gradient = random_uniform({1'000'003}, rng);
  Tensor whole = Tensor(start.shape(), start.values()).set_requires_grad();
  AdamW adamw({{{whole}, 0.1}});
  set_grad(whole, gradient.values());
  adamw.step(0.01);
  for (std::size_t i : {std::size_t{0}, std::size_t{499'999}, std::size_t{500'002}, std::size_t{1'000'002}}) {
    Tensor one = Tensor({1}, {start.values()[i]}).set_requires_grad();
    AdamW alone({{{one}, 0.1}});
    set_grad(one, gradient.values().subspan(i, 1));
    alone.step(0.01);
    CHECK(static_cast<double>(one.item()) == doctest::Approx(whole.values()[i]).epsilon(doubles ? 1e-15 : 1e-6));
  }
}

TEST_CASE("adamw follows PyTorch's trajectories") {
  const std::filesystem::path folder = std::filesystem::path(GRADUS_SHARED_DIR) / "golden";
  if (!std::filesystem::exists(folder)) {
    MESSAGE("skipped: " << folder.string() << " is not there");
    return;
  }
  const double tolerance = doubles ? 1e-12 : 1e-5;
  for (const char* name : {"optim.adamw.safetensors", "optim.adamw_sched.safetensors"}) {
    CAPTURE(name);
    const nn::SafetensorsFile file(folder / name);
    const auto defaults = nlohmann::json::parse(file.metadata().at("defaults"));
    const auto groups = nlohmann::json::parse(file.metadata().at("groups"));
    const Tensor rates = file.read("lr");
    for (std::size_t group = 0; group < groups.size(); ++group) {
      auto settings = defaults;
      settings.update(groups[group]);
      const AdamWOptions options{settings["betas"][0], settings["betas"][1], settings["eps"]};
      for (const std::string p : settings["params"]) {
        CAPTURE(p);
        Tensor theta = file.read(p + "/init").set_requires_grad();
        const Tensor gradients = file.read(p + "/grads"), trajectory = file.read(p + "/traj");
        AdamW adamw({{{theta}, settings["weight_decay"]}}, options);
        for (std::size_t step = 0; step < rates.extent(0); ++step) {
          set_grad(theta, gradients.values().subspan(step * theta.size(), theta.size()));
          adamw.step(static_cast<double>(rates.values()[step * groups.size() + group]));
          for (std::size_t i = 0; i < theta.size(); ++i) {
            const double expected = static_cast<double>(trajectory.values()[step * theta.size() + i]);
            REQUIRE(std::abs(static_cast<double>(theta.values()[i]) - expected) <=
                    tolerance * std::max(1.0, std::abs(expected)));
          }
        }
      }
    }
  }
}

// A linear map learns targets it cannot reach exactly; expected values from PyTorch, at the end of the course's vector.
TEST_CASE("adamw ends a thousand steps of regression where PyTorch ends them") {
  const auto folder = std::filesystem::path(GRADUS_SHARED_DIR) / "data/cs336/snapshots/inputs";
  if (!std::filesystem::exists(folder)) {
    MESSAGE("skipped: " << folder.string() << " is not there");
    return;
  }
  const auto floats = [&](const char* name, std::size_t count) {
    std::vector<float> numbers(count);
    std::ifstream(folder / name, std::ios::binary)
        .read(reinterpret_cast<char*>(numbers.data()), static_cast<std::streamsize>(count * sizeof(float)));
    return numbers;
  };
  const auto x = floats("adamw_x_1000x3.f32", 3000), start = floats("adamw_w0_2x3.f32", 6),
             expected = floats("expected_adamw_2x3.f32", 6);
  Tensor w = Tensor({2, 3}).set_requires_grad();
  std::ranges::copy(start, w.mutable_values().begin());
  AdamW adamw({{{w}, 0.01}}, {.beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8});
  for (std::size_t step = 0; step < 1000; ++step) {
    const float* const row = x.data() + 3 * step;
    const double targets[] = {row[0] + row[1], -row[2]};
    w.clear_grad();
    const std::span<Real> dw = w.mutable_grad();
    for (std::size_t i = 0; i < 2; ++i) {
      double error = -targets[i];
      for (std::size_t j = 0; j < 3; ++j) error += static_cast<double>(w.values()[3 * i + j]) * row[j];
      for (std::size_t j = 0; j < 3; ++j) dw[3 * i + j] = static_cast<Real>(2 * error * row[j]);
    }
    adamw.step(1e-3);
  }
  for (std::size_t i = 0; i < 6; ++i) CHECK(std::abs(static_cast<double>(w.values()[i]) - expected[i]) < 2e-5);
}

TEST_CASE("decay_matrices spares vectors and scalars") {
  const std::vector<Tensor> parameters = {Tensor({2, 3}), Tensor({3}), Tensor::scalar(1)};
  const auto groups = decay_matrices(parameters, 0.1);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].parameters == std::vector<Tensor>{parameters[0]});
  CHECK(groups[0].weight_decay == 0.1);
  CHECK(groups[1].parameters == std::vector<Tensor>{parameters[1], parameters[2]});
  CHECK(groups[1].weight_decay == 0);
}

TEST_CASE("adamw refuses settings that cannot work") {
  Tensor theta = parameter_of(1);
  CHECK_THROWS_WITH_AS(
      AdamW({{{theta}, 0.1}, {{theta}, 0}}),
      "adamw: a parameter of shape (1) appears twice and would be stepped twice; name a shared one once", ShapeError);
  CHECK_THROWS_WITH_AS(AdamW({{{theta}, 0}}, {.beta1 = 1}), "adamw: beta 1 is not in [0, 1)", ShapeError);
  CHECK_THROWS_WITH_AS(AdamW({{{theta}, -1}}), "adamw: weight decay -1 must be 0 or more", ShapeError);
  CHECK_THROWS_WITH_AS(AdamW({{{theta}, 0}}, {.epsilon = 0}),
                       "adamw: epsilon 0 must be above 0, or a gradient of 0 would divide 0 by 0", ShapeError);
  AdamW adamw({{{theta}, 0}});
  CHECK_THROWS_WITH_AS(adamw.step(-1), "adamw: rate -1 must be 0 or more", ShapeError);
  CHECK_THROWS_AS(adamw.step(std::numeric_limits<double>::quiet_NaN()), ShapeError);
  CHECK(adamw.steps() == 0);
}
