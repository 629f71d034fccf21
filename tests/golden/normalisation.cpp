// RMSNorm and LayerNorm.
#include "autograd/ops/layer_norm.h"
#include "autograd/ops/rms_norm.h"
#include "tests/golden/golden.h"

namespace gradus::golden {

static void read_rms_norm(File& file) {
  for (const Case& c : cases(file)) {
    const Tensor x = c.leaf("x"), weight = c.leaf("weight");
    const Tensor y = rms_norm(x, weight, c["eps"]);
    y.backward(c.tensor("dy"));
    c.compare("y", y);
    c.compare_gradient("dx", x);
    c.compare_gradient("dweight", weight);
  }
}

static void read_layer_norm(File& file) {
  for (const Case& c : cases(file)) {
    const bool with_bias = c.has("bias");
    const Tensor x = c.leaf("x"), weight = c.leaf("weight"), bias = with_bias ? c.leaf("bias") : Tensor();
    const Tensor y = layer_norm(x, weight, bias, c["eps"]);
    y.backward(c.tensor("dy"));
    c.compare("y", y);
    c.compare_gradient("dx", x);
    c.compare_gradient("dweight", weight);
    if (with_bias) c.compare_gradient("dbias", bias);
  }
}

static const Kind rms("op.rmsnorm", read_rms_norm), layer("op.layernorm", read_layer_norm);

}  // namespace gradus::golden
