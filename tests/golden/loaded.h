// A reference model as ours, and what the readers of whole models share.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "autograd/error.h"
#include "autograd/ops/cross_entropy.h"
#include "nn/decoder.h"
#include "tests/golden/golden.h"
#include "tests/golden/upstream.h"

namespace gradus::golden {

// A result of upstream's in float32 is as far from the exact one as ours may be, and the two errors can add up.
inline constexpr Tolerance float_result(Tolerance t) { return {t.f32, 2 * t.f32}; }

inline std::vector<double> as_doubles(std::span<const Real> values) { return {values.begin(), values.end()}; }

// Numbers (B, T) of a file: ids, labels, masks.
struct Batch {
  std::vector<int> numbers;
  std::size_t rows;
  std::size_t time;

  std::span<const int> row(std::size_t b) const { return std::span(numbers).subspan(b * time, time); }
};

inline Batch batch_of(File& file, const std::string& name) {
  const Shape shape = file.shape(name);
  return {file.ids(name), shape.rows(), shape.back()};
}

// minimind shifts inside: the row of the token at t is asked for label t + 1.
inline std::vector<int> shifted(const Batch& labels) {
  std::vector<int> targets(labels.numbers.size(), ignore_index);
  for (std::size_t i = 0; i < targets.size(); ++i)
    if ((i + 1) % labels.time != 0) targets[i] = labels.numbers[i + 1];
  return targets;
}

// Keeps the rows whose number is 1.
inline Keep rows_kept(const std::vector<int>& keep, std::size_t width) {
  return [keep, width](std::size_t i) { return keep[i / width] == 1; };
}

// A file of a model, "NAME.io" or another `part`, of the project whose embedding has this name.
inline auto model_file(std::string part, std::string embedding) {
  return [part, embedding](const File& file) {
    if (!file.form().ends_with("." + part) || !file.has_text("param_order")) return false;
    const Json order = file.json("param_order");
    return std::ranges::find(order, Json(embedding)) != order.end();
  };
}

// Fills every parameter from `prefix` + upstream's name. Errors: a shape that differs; a tensor of theirs left over.
template <nn::Module M>
void load(M& ours, File& file, PlaceOf place_of, const std::string& prefix = "") {
  std::set<std::string> used;
  for (nn::Parameter parameter : nn::parameters(ours)) {
    const Place place = place_of(parameter.name);
    const std::string name = prefix + place.tensor;
    const Shape shape = parameter.tensor.shape(), theirs = file.shape(name);
    expect(theirs == shape.with(0, shape[0] * place.parts), "{} is {}, but {} is {}", name, theirs, parameter.name,
           shape);
    const std::vector<double> numbers = file.numbers(name);
    const std::span<Real> values = parameter.tensor.mutable_values();
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<Real>(numbers[place.part * values.size() + i]);
    used.insert(name);
  }
  for (const std::string& name : file.names(prefix)) expect(used.contains(name), "{} is no parameter of ours", name);
}

// `numbers` of every parameter that has a tensor `prefix` + upstream's name in the file, against that tensor.
template <nn::Module M, class Numbers>
void compare_parameters(File& file, const M& ours, PlaceOf place_of, const std::string& prefix, Tolerance tolerance,
                        const Numbers& numbers) {
  for (const nn::Parameter& parameter : nn::parameters(ours)) {
    const Place place = place_of(parameter.name);
    const std::string name = prefix + place.tensor;
    if (!file.has(name)) continue;
    const std::vector<double> theirs = file.numbers(name);
    const std::size_t size = parameter.tensor.size();
    file.compare_numbers(name, as_doubles(numbers(parameter.tensor)),
                         std::span(theirs).subspan(place.part * size, size), tolerance);
  }
}

template <nn::Module M>
void clear_gradients(const M& ours) {
  for (nn::Parameter parameter : nn::parameters(ours)) parameter.tensor.clear_grad();
}

// What the loss gives each parameter.
template <nn::Module M>
void compare_gradients(File& file, const M& ours, const Tensor& of_loss, PlaceOf place_of, const std::string& prefix) {
  clear_gradients(ours);
  of_loss.backward();
  compare_parameters(file, ours, place_of, prefix, golden::model, [](const Tensor& t) { return t.grad(); });
}

}  // namespace gradus::golden
