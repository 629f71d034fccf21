// A picture of a recorded graph.
#pragma once

#include <string>

#include "autograd/tensor.h"

namespace gradus {

// The graph that ends in `root`, as text for Graphviz: `dot -Tsvg`. Operations are ellipses, leaves boxes; arrows point
// the way the numbers flow.
std::string graph_as_dot(const Tensor& root);

}  // namespace gradus
