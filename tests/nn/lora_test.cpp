#include "nn/lora.h"

#include <doctest/doctest.h>

#include <map>

#include "autograd/error.h"
#include "autograd/gradcheck.h"
#include "autograd/ops/matmul.h"
#include "nn/checkpoint.h"
#include "nn/text/byte_tokenizer.h"
#include "nn/text/generate.h"
#include "tests/nn/temporary_folder.h"

using namespace gradus;
using namespace gradus::nn;

static const std::vector<std::string> all = {"query", "key", "value", "output", "gate", "up", "down"};
static const std::vector<int> ids = {1, 4, 2, 6, 0, 3, 5, 2}, targets = {4, 2, 6, 0, 3, 5, 2, 1};

static Decoder trained() {
  Decoder decoder({.vocab_size = 256, .width = 8, .n_layers = 2, .n_heads = 4, .n_kv_heads = 2, .hidden = 6, .context_length = 8});
  Rng rng(3);
  for (Parameter& parameter : parameters(decoder))
    for (Real& value : parameter.tensor.mutable_values()) value = static_cast<Real>(0.3 * rng.normal());
  return decoder;
}

// A and B as they are behind some training.
static void fill(const Lora& lora) {
  Rng rng(4);
  for (Parameter& parameter : lora.parameters())
    for (Real& value : parameter.tensor.mutable_values()) value = static_cast<Real>(0.2 * rng.normal());
}

static std::vector<Real> logits(const Decoder& decoder) {
  const NoGrad guard;
  const Tensor rows = decoder.logits(decoder.hidden(ids, 2));
  return {rows.values().begin(), rows.values().end()};
}

TEST_CASE("a model begins its adaptation as it was") {
  Decoder decoder = trained();
  const std::vector<Real> before = logits(decoder);
  Rng rng(1);
  Lora lora(decoder, {.rank = 2, .projections = all}, rng);
  CHECK(logits(decoder) == before);
}

TEST_CASE("only A and B are trained, under their own names, and an optimizer is never given W") {
  Decoder decoder = trained();
  Rng rng(1);
  Lora lora(decoder, {.rank = 3, .projections = {"value", "down"}}, rng);
  std::vector<std::string> names;
  std::size_t count = 0;
  for (const Parameter& parameter : lora.parameters()) {
    names.push_back(parameter.name);
    count += parameter.tensor.size();
  }
  CHECK(names == std::vector<std::string>{
                     "layers.0.attention.value.lora_a", "layers.0.attention.value.lora_b", "layers.0.feed_forward.down.lora_a",
                     "layers.0.feed_forward.down.lora_b", "layers.1.attention.value.lora_a", "layers.1.attention.value.lora_b",
                     "layers.1.feed_forward.down.lora_a", "layers.1.feed_forward.down.lora_b"});
  CHECK(count == 2 * (3 * (4 + 8) + 3 * (8 + 6)));
  CHECK_THROWS_WITH_AS(parameters(decoder), doctest::Contains("parameters: layers.0.attention.value.weight was computed by add"), ShapeError);

  decoder.loss(ids, targets, 2).backward();
  for_each_parameter(decoder, [](const std::string& name, const Tensor& tensor) {
    if (!name.ends_with("value.weight") && !name.ends_with("down.weight")) CHECK_MESSAGE(!tensor.has_grad(), name);
  });
  CHECK(lora.parameters()[1].tensor.has_grad());
}

TEST_CASE("the gradients of A and B are those of the matrix, through the product") {
  const double alpha = 3;
  Decoder adapted = trained(), plain = trained();
  Rng rng(1);
  Lora lora(adapted, {.rank = 2, .alpha = alpha, .projections = all}, rng);
  fill(lora);
  lora.rebind();
  std::map<std::string, Tensor> matrices;
  for_each_parameter(plain, [&](const std::string& name, Tensor& tensor) { matrices[name] = tensor; });
  for_each_parameter(adapted, [&](const std::string& name, const Tensor& tensor) {
    std::copy(tensor.values().begin(), tensor.values().end(), matrices[name].mutable_values().begin());
  });
  adapted.loss(ids, targets, 2).backward();
  plain.loss(ids, targets, 2).backward();

  const std::vector<Parameter> list = lora.parameters();
  for (std::size_t i = 0; i < list.size(); i += 2) {
    const auto& [name, a] = list[i];
    const Tensor& b = list[i + 1].tensor;
    const Tensor& matrix = matrices.at(name.substr(0, name.size() - 6) + "weight");
    const Tensor dW(matrix.shape(), matrix.grad());
    const NoGrad guard;
    const Tensor dA = matmul(b, dW, Op::transpose), dB = matmul(dW, a, Op::none, Op::transpose);
    const auto close = [&](std::span<const Real> got, const Tensor& want) {
      REQUIRE(got.size() == want.size());
      for (std::size_t j = 0; j < got.size(); ++j)
        CHECK(static_cast<double>(got[j]) ==
              doctest::Approx(alpha / 2 * static_cast<double>(want.values()[j])).epsilon(sizeof(Real) == 8 ? 1e-10 : 1e-3).scale(0.01));
    };
    close(a.grad(), dA);
    close(b.grad(), dB);
  }
}

TEST_CASE("the gradients of A and B pass the gradient check through the whole decoder") {
  if (sizeof(Real) != 8) return;
  Decoder decoder = trained();
  Rng rng(1);
  Lora lora(decoder, {.rank = 2, .projections = all}, rng);
  fill(lora);
  const auto loss = [&] {
    lora.rebind();
    return decoder.loss(ids, targets, 2);
  };
  const GradCheckResult result = gradcheck("lora", lora.parameters(), loss, {.step = 2e-4});
  CHECK_MESSAGE(result.passed(), result.failure);
}

TEST_CASE("merged, a model writes the same logits, is saved and read as any other, and trains as a whole again") {
  Decoder decoder = trained();
  Rng rng(1);
  Lora lora(decoder, {.rank = 2, .projections = all}, rng);
  fill(lora);
  lora.rebind();
  const std::vector<Real> before = logits(decoder);
  CHECK(before != logits(trained()));
  Rng draws(1);
  CHECK(generate(decoder, std::vector<int>{1}, {.tokens = 4}, draws).size() == 4);
  lora.merge();
  CHECK(logits(decoder) == before);
  CHECK(parameters(decoder).size() == parameters(trained()).size());
  decoder.loss(ids, targets, 2).backward();
  for (const Parameter& parameter : parameters(decoder)) CHECK_MESSAGE(parameter.tensor.has_grad(), parameter.name);

  const TemporaryFolder folder;
  save_model(folder.path(), decoder, ByteTokenizer());
  CHECK(logits(load_model(folder.path()).decoder) == before);
}

TEST_CASE("an adaptation that cannot be is refused") {
  Decoder decoder = trained();
  Rng rng(1);
  const auto refused = [&](const LoraOptions& options, const char* why) {
    CHECK_THROWS_WITH_AS(Lora(decoder, options, rng), why, ShapeError);
  };
  refused({.rank = 0}, "lora: the rank must be 1 to 8, the smaller side of layers.0.attention.query (8, 8), not 0");
  refused({.rank = 5}, "lora: the rank must be 1 to 4, the smaller side of layers.0.attention.value (4, 8), not 5");
  refused({.rank = 1, .alpha = 0}, "lora: alpha must be a number above 0, not 0");
  refused({.rank = 1, .projections = {}}, "lora: name at least one projection, as in query and value");
  refused({.rank = 1, .projections = {"query", "query"}}, "lora: the projection query is named twice");
  refused({.rank = 1, .projections = {"w1"}}, "lora: there is no projection w1; there are query, key, value, output, gate, up, down");
  CHECK(parameters(decoder).front().tensor.requires_grad());
}
