#include "autograd/graph.h"

#include <algorithm>
#include <atomic>
#include <unordered_map>

#include "autograd/error.h"

namespace gradus {

static thread_local bool recording = true;

bool grad_enabled() { return recording; }

NoGrad::NoGrad() : before_(recording) { recording = false; }
NoGrad::~NoGrad() { recording = before_; }

std::string_view op_name(const Tensor& tensor) {
  const auto& recipe = tensor.node().recipe;
  return recipe ? recipe->op : "leaf";
}

void attach(const Tensor& output, std::string_view op, std::span<const Tensor> inputs, Backward backward) {
  static std::atomic<std::uint64_t> records{0};
  Node& node = output.node();
  expect(node.recipe == nullptr, "{}: its output was already recorded by {}; an operation makes a new tensor", op,
         op_name(output));
  node.requires_grad = true;
  node.recipe = std::make_unique<Recipe>(Recipe{++records, op, {}, node.version, std::move(backward)});
  node.recipe->inputs.reserve(inputs.size());
  for (const Tensor& input : inputs) node.recipe->inputs.push_back({input, input.version()});
}

// A node that dies may hold the last handle to its inputs, these to theirs, and so on for a million nodes. The
// outermost destructor therefore collects what the inner ones would have destroyed, and destroys it in a loop.
Node::~Node() {
  if (recipe == nullptr) return;
  static thread_local std::vector<std::unique_ptr<Recipe>>* doomed = nullptr;
  if (doomed != nullptr) {
    doomed->push_back(std::move(recipe));
    return;
  }
  std::vector<std::unique_ptr<Recipe>> list;
  doomed = &list;
  list.push_back(std::move(recipe));
  while (!list.empty()) {
    const std::unique_ptr<Recipe> next = std::move(list.back());
    list.pop_back();
  }
  doomed = nullptr;
}

// Every recorded tensor that `root` was computed from, itself included, latest first.
static std::vector<Tensor> collect(const Tensor& root) {
  static std::atomic<std::uint64_t> sweeps{0};
  const std::uint64_t sweep = ++sweeps;
  std::vector<Tensor> found;
  const auto visit = [&](const Tensor& tensor) {
    Node& node = tensor.node();
    if (node.recipe == nullptr || node.visited == sweep) return;
    expect(!node.recipe->consumed,
           "backward: the graph through {} was used by an earlier backward(), which took it apart; "
           "compute the result again, or add the losses and call backward() once",
           node.recipe->op);
    node.visited = sweep;
    found.push_back(tensor);
  };
  visit(root);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto& inputs = found[i].node().recipe->inputs;
    for (const Recipe::Input& input : inputs) visit(input.tensor);
  }
  std::ranges::sort(found, std::ranges::greater{}, [](const Tensor& t) { return t.node().recipe->number; });
  return found;
}

static void check_unchanged(const Tensor& output, const Recipe& recipe) {
  expect(output.version() == recipe.output_version,
         "backward: the output of {}, of shape {}, was overwritten after it was computed; write to a copy", recipe.op,
         output.shape());
  for (const Recipe::Input& input : recipe.inputs)
    expect(input.tensor.version() == input.version,
           "backward: an input of {}, of shape {}, was overwritten after it was used; call backward() before the "
           "write, or write to a copy",
           recipe.op, input.tensor.shape());
}

void Tensor::backward(const Tensor& cotangent, const std::function<void(const Tensor&)>& on_ready) const {
  expect(cotangent.shape() == shape(), "backward: the cotangent {} must have the shape of the result {}",
         cotangent.shape(), shape());
  expect(requires_grad(), "backward: nothing was recorded; no input has requires_grad(), or NoGrad was on");
  std::vector<Tensor> order = collect(*this);
  // From here on the graph is used, whether or not the sweep comes to its end: a backward inside the sweep must not
  // run these nodes before their gradients are complete, nor one after a failed sweep add to what that left.
  for (const Tensor& tensor : order) tensor.node().recipe->consumed = true;

  const std::span<Real> seed = mutable_grad();
  const std::span<const Real> from = cotangent.values();
  for (std::size_t i = 0; i < seed.size(); ++i) seed[i] += from[i];

  std::unordered_map<const Node*, std::size_t> readers;  // leaf → operations whose backward is still to come
  if (on_ready)
    for (const Tensor& tensor : order)
      for (const Recipe::Input& input : tensor.node().recipe->inputs) ++readers[&input.tensor.node()];

  for (Tensor& entry : order) {
    const Tensor output = std::exchange(entry, Tensor());
    Recipe& recipe = *output.node().recipe;
    check_unchanged(output, recipe);
    if (output.has_grad()) recipe.backward(output);

    output.node().grad = Buffer();
    recipe.backward = nullptr;
    const std::vector<Recipe::Input> inputs = std::move(recipe.inputs);
    if (!on_ready) continue;
    for (const Recipe::Input& input : inputs)
      if (--readers[&input.tensor.node()] == 0 && input.tensor.requires_grad() && !input.tensor.node().recipe)
        on_ready(input.tensor);
  }
  if (on_ready && order.empty()) on_ready(*this);
}

void Tensor::backward(double cotangent, const std::function<void(const Tensor&)>& on_ready) const {
  expect(size() == 1,
         "backward: a result of shape {} is not one number; reduce it to one, or pass a cotangent of its shape",
         shape());
  backward(full(shape(), cotangent), on_ready);
}

}  // namespace gradus
