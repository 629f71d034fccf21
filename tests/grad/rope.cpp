#include "autograd/ops/rope.h"

#include "tests/grad/check.h"

using namespace gradus;

GRAD_CHECK(rope) {
  const RopeTable four = rope_table(9, 4, 100), two = rope_table(3, 2, 100);
  const std::vector<int> positions{4, 0, 8, 1, 1, 7};
  for (RopePairing pairing : {RopePairing::adjacent, RopePairing::half}) {
    const Tensor one_head = table.uniform({2, 3, 4}), three_heads = table.uniform({2, 3, 12});
    const Tensor one_point = table.uniform({1, 1, 2});
    table.check({{"x", one_head}}, [=] { return rope(one_head, four, pairing); });
    table.check({{"x", three_heads}}, [=] { return rope(three_heads, four, pairing, 5); });
    table.check({{"x", three_heads}}, [=] { return rope(three_heads, four, pairing, positions); });
    const RopeScaling stretched{.kind = RopeScalingKind::yarn, .factor = 2, .original_context = 4,
                                .attention_factor = 1.5};
    const RopeTable scaled = rope_table(8, 4, 100, stretched);
    table.check({{"x", three_heads}}, [=] { return rope(three_heads, scaled, pairing, 5); });
    table.check({{"x", one_point}}, [=] { return rope(one_point, two, pairing, 2); });
  }
}
