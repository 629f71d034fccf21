#include "autograd/dot.h"

#include <unordered_map>
#include <vector>

#include "autograd/error.h"
#include "autograd/graph.h"

namespace gradus {

std::string graph_as_dot(const Tensor& root) {
  std::unordered_map<const Node*, std::size_t> number;
  std::vector<Tensor> found;
  const auto number_of = [&](const Tensor& tensor) {
    const auto [entry, is_new] = number.emplace(&tensor.node(), found.size());
    if (is_new) found.push_back(tensor);
    return entry->second;
  };

  std::string nodes, arrows;
  number_of(root);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Tensor tensor = found[i];
    const auto& recipe = tensor.node().recipe;
    nodes += message("  n{} [shape={}, label=\"{}\\n{}\"];\n", i, recipe ? "ellipse" : "box",
                     recipe ? recipe->op : (tensor.requires_grad() ? "leaf" : "constant"), tensor.shape());
    if (!recipe) continue;
    for (const Recipe::Input& input : recipe->inputs) arrows += message("  n{} -> n{};\n", number_of(input.tensor), i);
  }
  return "digraph gradus {\n  rankdir=LR;\n" + nodes + arrows + "}\n";
}

}  // namespace gradus
