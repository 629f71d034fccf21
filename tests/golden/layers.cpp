// Linear, embedding, pointwise functions, the gated layer, softmax and cross-entropy.
#include <cmath>

#include "autograd/ops/cross_entropy.h"
#include "autograd/ops/embedding.h"
#include "autograd/ops/linear.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/softmax.h"
#include "nn/swiglu.h"
#include "tests/golden/golden.h"

namespace gradus::golden {

static void read_linear(File& file) {
  for (const Case& c : cases(file)) {
    const bool with_bias = c.has("bias");
    const Tensor x = c.leaf("x"), weight = c.leaf("weight"), bias = with_bias ? c.leaf("bias") : Tensor();
    const Tensor y = linear(x, weight, bias);
    y.backward(c.tensor("dy"));
    c.compare("y", y);
    c.compare_gradient("dx", x);
    c.compare_gradient("dweight", weight);
    if (with_bias) c.compare_gradient("dbias", bias);
  }
}

static void read_embedding(File& file) {
  for (const Case& c : cases(file)) {
    const Tensor weight = c.leaf("weight");
    const Tensor y = embedding(weight, c.ids("ids"));
    y.backward(Tensor(y.shape(), c.tensor("dy").values()));
    c.compare("y", y, exact);
    c.compare_gradient("dweight", weight);
  }
}

static void read_swiglu(File& file) {
  static constexpr Tolerance gradients{1e-12, 1e-5};
  for (const Case& c : cases(file)) {
    const Tensor x = c.leaf("x");
    nn::SwiGLU module(c["D"], c["M"]);
    module.gate.weight = c.leaf("w_gate");
    module.up.weight = c.leaf("w_up");
    module.down.weight = c.leaf("w_down");
    const Tensor y = module(x);
    y.backward(c.tensor("dy"));
    c.compare("y", y);
    c.compare_gradient("dx", x, gradients);
    c.compare_gradient("dw_gate", module.gate.weight, gradients);
    c.compare_gradient("dw_up", module.up.weight, gradients);
    c.compare_gradient("dw_down", module.down.weight, gradients);
  }
}

using Function = Tensor (*)(const Tensor&);
static const std::map<std::string, Function> functions = {
    {"softmax", softmax}, {"log_softmax", log_softmax}, {"silu", silu},         {"sigmoid", sigmoid},
    {"tanh", tanh},       {"relu", relu},               {"gelu_erf", gelu},     {"gelu_tanh", gelu_tanh},
};

// Every NAME.y below the prefix, with NAME.dx.
static void compare_functions(File& file, const std::string& prefix) {
  for (const std::string& name : file.names(prefix)) {
    if (!name.ends_with(".y")) continue;
    const std::string function = name.substr(prefix.size(), name.size() - prefix.size() - 2);
    if (!functions.contains(function)) continue;  // remains untouched, and is counted so
    const Tensor x = file.leaf(prefix + "x");
    const Tensor y = functions.at(function)(x);
    y.backward(file.has(prefix + "dy") ? file.tensor(prefix + "dy") : Tensor::full(x.shape(), 1));
    file.compare(name, y);
    file.compare_gradient(prefix + function + ".dx", x);
  }
}

static void read_pointwise(File& file) {
  for (const Case& c : cases(file)) compare_functions(file, c.prefix());
  if (file.has("special/x")) compare_functions(file, "special/");
  if (!file.has("softmax_special/x")) return;

  const std::string prefix = "softmax_special/";
  const Tensor x = file.tensor(prefix + "x"), y = softmax(x), log_y = log_softmax(x);
  const std::vector<double> original = file.numbers(prefix + "x");
  const std::size_t n = x.shape().back();
  // A row of nothing but −inf is NaN in PyTorch and nothing here: zeros, and their logarithm −inf.
  std::vector<bool> some(x.shape().rows()), representable(x.shape().rows(), true);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isinf(original[i])) some[i / n] = true;
    if (static_cast<double>(x.values()[i]) != original[i]) representable[i / n] = false;
  }
  const Keep live = [&](std::size_t i) { return some[i / n]; };
  // The float flavour reads other numbers where float cannot hold those of the file; PyTorch's float run read the same.
  if (!in_double) file.by_rule(prefix + "softmax");
  file.compare(prefix + (in_double ? "softmax" : "softmax.f32"), y, operation, live);
  file.require_zero(prefix + "softmax", y.values(), live);
  file.compare(prefix + "log_softmax", log_y, operation,
               [&](std::size_t i) { return some[i / n] && representable[i / n]; });
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!some[i / n]) file.require(std::isinf(log_y.values()[i]), prefix + "log_softmax: a row of −inf must stay so");
}

// Where no target counts, PyTorch's mean is 0 / 0; here it is 0.
static void read_cross_entropy(File& file) {
  static constexpr std::pair<const char*, Reduction> reductions[] = {
      {"mean", Reduction::mean}, {"sum", Reduction::sum}, {"none", Reduction::none}};
  for (const Case& c : cases(file)) {
    const std::vector<int> targets = c.ids("target");
    const int ignored = c["ignore_index"];
    const bool some = std::ranges::any_of(targets, [&](int target) { return target != ignored; });
    for (const auto& [name, kind] : reductions) {
      const Reduction reduction = kind;
      const Tensor logits = c.leaf("logits");
      const Tensor y = cross_entropy(logits, targets, reduction, ignored);
      y.backward(reduction == Reduction::none ? c.tensor("dloss.none") : Tensor::scalar(1));
      const std::string loss_name = std::string("loss.") + name;
      const Keep defined = [&](std::size_t) { return some || reduction != Reduction::mean; };
      c.compare(loss_name, y, loss, defined);
      file.require_zero(c.prefix() + loss_name, y.values(), defined);
      c.compare_gradient(std::string("dlogits.") + name, logits);
    }
  }
}

static const Kind linears("op.linear", read_linear), embeddings("op.embedding", read_embedding),
    gated("op.swiglu", read_swiglu), pointwise("op.pointwise", read_pointwise),
    cross_entropies("op.cross_entropy", read_cross_entropy);

}  // namespace gradus::golden
