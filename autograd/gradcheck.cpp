#include "autograd/gradcheck.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "autograd/error.h"
#include "autograd/graph.h"

namespace gradus {

Tensor random_uniform(const Shape& shape, Rng& rng, double low, double high) {
  Tensor tensor(shape);
  for (Real& value : tensor.mutable_values()) value = static_cast<Real>(low + (high - low) * rng.uniform());
  return tensor;
}

Tensor random_away_from_zero(const Shape& shape, Rng& rng, double margin) {
  Tensor tensor(shape);
  for (Real& value : tensor.mutable_values()) {
    const double draw = 2 * rng.uniform() - 1;
    value = static_cast<Real>(draw < 0 ? draw - margin : draw + margin);
  }
  return tensor;
}

using Gradients = std::vector<std::vector<double>>;  // of each input, empty where there is none

static double project(const Tensor& y, const Tensor& cotangent) {
  double sum = 0;
  for (std::size_t i = 0; i < y.size(); ++i)
    sum += static_cast<double>(y.values()[i]) * static_cast<double>(cotangent.values()[i]);
  return sum;
}

// dL/dx ≈ (L(x − 2h) − 8 L(x − h) + 8 L(x + h) − L(x + 2h)) / 12h
static Gradients numeric_gradients(const std::vector<NamedTensor>& inputs, const std::function<Tensor()>& f,
                                   const Tensor& cotangent, double step) {
  const NoGrad guard;
  Gradients gradients;
  for (NamedTensor input : inputs) {
    std::vector<double>& gradient = gradients.emplace_back();
    for (std::size_t i = 0; i < input.tensor.size(); ++i) {
      const Real before = input.tensor.values()[i];
      const auto at = [&](double offset) {
        input.tensor.mutable_values()[i] = static_cast<Real>(static_cast<double>(before) + offset);
        return project(f(), cotangent);
      };
      gradient.push_back((at(-2 * step) - 8 * at(-step) + 8 * at(step) - at(2 * step)) / (12 * step));
      input.tensor.mutable_values()[i] = before;
    }
  }
  return gradients;
}

// What backward adds to gradients that start as `start` (or as nothing).
static Gradients analytic_gradients(const std::vector<NamedTensor>& inputs, const std::function<Tensor()>& f,
                                    const Tensor& cotangent, std::optional<double> start) {
  for (NamedTensor input : inputs) {
    input.tensor.clear_grad();
    if (start && input.tensor.requires_grad())
      std::ranges::fill(input.tensor.mutable_grad(), static_cast<Real>(*start));
  }
  f().backward(cotangent);
  Gradients gradients;
  for (NamedTensor input : inputs) {
    std::vector<double>& gradient = gradients.emplace_back();
    for (Real value : input.tensor.grad()) gradient.push_back(static_cast<double>(value) - start.value_or(0));
    input.tensor.clear_grad();
  }
  return gradients;
}

static double largest(const std::vector<double>& values) {
  double result = 0;
  for (double value : values) {
    if (std::isnan(value)) return value;
    result = std::max(result, std::abs(value));
  }
  return result;
}

// Compares one input's gradients; a NaN on either side is an infinite error.
static void compare(std::string_view op, std::string_view pass, const NamedTensor& input,
                    const std::vector<double>& analytic, const std::vector<double>& numeric, bool zero_is_meant,
                    double tolerance, GradCheckResult& result) {
  if (!result.passed()) return;
  if (analytic.empty() && !numeric.empty() && !zero_is_meant) {
    result.failure = message("{}: {} got no gradient ({})", op, input.name, pass);
    return;
  }
  const double scale = largest(numeric);
  if (scale == 0 && !numeric.empty() && !zero_is_meant) {
    result.failure = message(
        "{}: the gradient of {} is zero everywhere, so the check shows nothing; change the values, "
        "or name it in zero_gradients",
        op, input.name);
    return;
  }
  for (std::size_t i = 0; i < analytic.size(); ++i) {
    double error = std::abs(analytic[i] - numeric[i]) / (scale > 0 && !zero_is_meant ? scale : 1.0);
    if (std::isnan(error)) error = INFINITY;
    result.error = std::max(result.error, error);
    if (error <= tolerance) continue;
    result.failure =
        message("{}: d{}[{}] of shape {} is {:.10g} by backward and {:.10g} by differences, error {:.2e} ({})", op,
                input.name, i, input.tensor.shape(), analytic[i], numeric[i], error, pass);
    return;
  }
}

GradCheckResult gradcheck(std::string_view op, const std::vector<NamedTensor>& inputs, const std::function<Tensor()>& f,
                          const GradCheckOptions& options) {
  GradCheckResult result;
  const auto zero_is_meant = [&](const NamedTensor& input) {
    return std::ranges::find(options.zero_gradients, input.name) != options.zero_gradients.end();
  };
  const auto set_requires_grad = [&](std::size_t frozen) {
    for (std::size_t i = 0; i < inputs.size(); ++i) Tensor(inputs[i].tensor).set_requires_grad(i != frozen);
  };

  set_requires_grad(inputs.size());
  Rng rng(options.seed);
  Shape shape;
  {
    const NoGrad guard;
    shape = f().shape();
  }
  const Tensor cotangent = random_uniform(shape, rng);
  const Gradients numeric = numeric_gradients(inputs, f, cotangent, options.step);

  const auto check = [&](std::string_view pass, std::optional<double> start, std::size_t frozen) {
    Gradients analytic;
    try {
      analytic = analytic_gradients(inputs, f, cotangent, start);
    } catch (const std::exception& problem) {
      if (result.passed()) result.failure = message("{}: backward failed ({}): {}", op, pass, problem.what());
      return;
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (i != frozen)
        compare(op, pass, inputs[i], analytic[i], numeric[i], zero_is_meant(inputs[i]), options.tolerance, result);
      else if (!analytic[i].empty() && result.passed())
        result.failure = message("{}: {} was frozen and got a gradient all the same", op, inputs[i].name);
    }
  };
  check("fresh gradients", std::nullopt, inputs.size());
  check("on top of gradients of 0.5; does backward assign where it must add?", 0.5, inputs.size());
  for (std::size_t frozen = 0; inputs.size() > 1 && frozen < inputs.size(); ++frozen) {
    set_requires_grad(frozen);
    check(message("with {} frozen", inputs[frozen].name), std::nullopt, frozen);
  }
  set_requires_grad(inputs.size());
  return result;
}

}  // namespace gradus
