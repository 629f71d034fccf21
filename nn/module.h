// What a module is: a plain struct whose fields are parameters or other modules, and one line that lists them.
//
//   struct Linear {
//     Tensor weight;  // (out, in)
//     static void fields(auto& self, auto&& visit) { visit("weight", self.weight); }
//   };
//
// Everything that concerns all parameters is written once, on that line: names, counting, saving, optimizing. A tensor
// that stands in two places is one parameter, under the name where it stands first.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include "autograd/error.h"
#include "autograd/graph.h"
#include "autograd/tensor.h"

namespace gradus::nn {

template <class T>
concept Module = requires(T& module) { T::fields(module, [](std::string_view, auto&) {}); };

// A leaf that training changes. Its values are uninitialised.
inline Tensor parameter(const Shape& shape) { return Tensor(shape).set_requires_grad(); }

// Calls visit("layers.3.attention.query.weight", tensor) for every defined tensor below the module, in order.
template <class M, class Visit>
  requires Module<std::remove_const_t<M>>
void for_each_parameter(M& module, const Visit& visit, const std::string& prefix = "") {
  const auto visit_field = [&](const std::string& name, auto& field, const auto& again) -> void {
    using Field = std::remove_cvref_t<decltype(field)>;
    if constexpr (std::is_same_v<Field, Tensor>) {
      if (field.defined()) visit(name, field);
    } else if constexpr (Module<Field>) {
      for_each_parameter(field, visit, name + ".");
    } else {
      for (std::size_t i = 0; i < field.size(); ++i) again(name + "." + std::to_string(i), field[i], again);
    }
  };
  std::remove_const_t<M>::fields(module, [&](std::string_view name, auto& field) {
    visit_field(std::string(prefix).append(name), field, visit_field);
  });
}

using Parameter = NamedTensor;

// Every parameter once. Errors: a tensor that is not a leaf, because a step cannot change what is computed from others.
template <Module M>
std::vector<Parameter> parameters(const M& module) {
  std::vector<Parameter> list;
  std::unordered_set<const Node*> seen;
  for_each_parameter(module, [&](const std::string& name, const Tensor& tensor) {
    expect(op_name(tensor) == "leaf", "parameters: {} was computed by {}; an optimizer needs the tensors it comes from", name,
           op_name(tensor));
    if (seen.insert(&tensor.node()).second) list.push_back({name, tensor});
  });
  return list;
}

template <Module M>
std::size_t count_parameters(const M& module) {
  std::size_t count = 0;
  for (const Parameter& parameter : parameters(module)) count += parameter.tensor.size();
  return count;
}

}  // namespace gradus::nn
