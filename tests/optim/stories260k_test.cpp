// Training somebody else's model: loss, gradients, steps and evaluation against what PyTorch computed in double from the
// same weights and tokens.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "autograd/graph.h"
#include "nn/llama2c.h"
#include "optim/adamw.h"
#include "optim/clip.h"
#include "tests/shared_data.h"

using namespace gradus;
namespace fs = std::filesystem;
using Json = nlohmann::json;

static const fs::path golden = data / "golden-train";
static constexpr double tolerance = sizeof(Real) == 8 ? 1e-9 : 1e-4;

static nn::Decoder stories() { return nn::read_llama2c(data / "stories260K/stories260K.bin"); }

// The batch that every number of the file comes from: B = 4 rows of T = 64 tokens.
struct Example {
  Json numbers = Json::parse(bytes_of(golden / "stories260K-b4t64.json"));
  std::vector<int> inputs = rows("inputs"), targets = rows("targets");

  std::vector<int> rows(const char* name) const {
    std::vector<int> ids;
    for (const Json& row : numbers[name])
      for (const Json& id : row) ids.push_back(id.get<int>());
    return ids;
  }
  Tensor loss(const nn::Decoder& decoder) const { return decoder.loss(inputs, targets, 4); }
};

static std::vector<Tensor> tensors_of(const nn::Decoder& decoder) {
  std::vector<Tensor> tensors;
  for (const nn::Parameter& parameter : nn::parameters(decoder)) tensors.push_back(parameter.tensor);
  return tensors;
}

static bool near(double ours, double theirs, double scale) { return std::abs(ours - theirs) <= tolerance * scale; }

static bool near(double ours, const Json& theirs) {
  const double number = theirs.get<double>();
  return near(ours, number, std::abs(number));
}

// "layers.3.attention.query.weight" → "model.layers.3.self_attn.q_proj.weight"
static std::string their_name(std::string name) {
  static const std::map<std::string, std::string> words = {
      {"embedding.weight", "embed_tokens.weight"},
      {"attention_norm.gain", "input_layernorm.weight"},
      {"attention.query.weight", "self_attn.q_proj.weight"},
      {"attention.key.weight", "self_attn.k_proj.weight"},
      {"attention.value.weight", "self_attn.v_proj.weight"},
      {"attention.output.weight", "self_attn.o_proj.weight"},
      {"feed_forward_norm.gain", "post_attention_layernorm.weight"},
      {"feed_forward.gate.weight", "mlp.gate_proj.weight"},
      {"feed_forward.up.weight", "mlp.up_proj.weight"},
      {"feed_forward.down.weight", "mlp.down_proj.weight"},
      {"norm.gain", "norm.weight"},
  };
  std::smatch match;
  std::string layer;
  if (std::regex_match(name, match, std::regex(R"((layers\.\d+\.)(.*))"))) {
    layer = match[1];
    name = std::string(match[2]);
  }
  return "model." + layer + words.at(name);
}

TEST_CASE("the loss, the gradient's norm and every tensor's gradient are PyTorch's, from weights that somebody else trained") {
  if (absent()) return;
  const Example example;
  const nn::Decoder decoder = stories();
  const Tensor loss = example.loss(decoder);
  CHECK(near(static_cast<double>(loss.item()), example.numbers["loss"]));
  loss.backward();
  CHECK(near(optim::gradient_norm(tensors_of(decoder)), example.numbers["grad_l2_total"]));

  const Json& theirs = example.numbers["grads"];
  const std::vector<nn::Parameter> parameters = nn::parameters(decoder);
  CHECK(parameters.size() == theirs.size());
  for (const nn::Parameter& parameter : parameters) {
    CAPTURE(parameter.name);
    const Json& expected = theirs.at(their_name(parameter.name));
    const double length = expected["l2"];
    CHECK(near(optim::gradient_norm(std::span(&parameter.tensor, 1)), expected["l2"]));
    // The file's queries and keys have the pairs of a head's numbers half a head apart, which leaves the first and the
    // last row of a matrix where they are.
    const std::span<const Real> gradient = parameter.tensor.grad();
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(near(static_cast<double>(gradient[i]), expected["first4"][i], length));
      CHECK(near(static_cast<double>(gradient[gradient.size() - 4 + i]), expected["last4"][i], length));
    }
  }
}

TEST_CASE("ten steps of AdamW go where PyTorch's go") {
  if (absent()) return;
  const Example example;
  const nn::Decoder decoder = stories();
  const Json& run = example.numbers["adamw"];
  std::vector<Tensor> weights = tensors_of(decoder);
  optim::AdamW adam(optim::decay_matrices(weights, run["weight_decay_2d"]),
                    {.beta1 = run["betas"][0], .beta2 = run["betas"][1], .epsilon = run["eps"]});
  for (const Json& expected : run["trajectory"]) {
    CAPTURE(expected["step"].get<int>());
    const Tensor loss = example.loss(decoder);
    loss.backward();
    const double norm = optim::clip_grad_norm(weights, run["clip_grad_norm"]);
    CHECK(near(static_cast<double>(loss.item()), expected["loss"]));
    CHECK(near(norm, expected["grad_norm"]));
    adam.step(run["lr"]);
    for (Tensor& weight : weights) weight.clear_grad();
  }
  CHECK(near(static_cast<double>(example.loss(decoder).item()), run["loss_after_10_steps"]));
}

static std::vector<int> story_tokens() {
  const std::string bytes = bytes_of(golden / "tinystories-first200-tok512.u16");
  std::vector<int> tokens(bytes.size() / 2);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::uint16_t id;
    std::memcpy(&id, bytes.data() + 2 * i, 2);
    tokens[i] = id;
  }
  return tokens;
}

// The mean surprise of each token of a text but the first.
static double loss_of(const nn::Decoder& decoder, std::span<const int> text) {
  return static_cast<double>(decoder.loss(text.first(text.size() - 1), text.subspan(1), 1).item());
}

TEST_CASE("the loss of each window of 200 stories is PyTorch's, and so is that of stories read from their beginnings") {
  if (absent()) return;
  const NoGrad guard;
  const Json expected = Json::parse(bytes_of(golden / "stories260K-loss-512.json"));
  const std::vector<int> tokens = story_tokens();
  REQUIRE(tokens.size() == expected["tokens"]);
  const nn::Decoder decoder = stories();

  double sum = 0;
  const std::size_t windows = expected["windows"], T = expected["window"];
  for (std::size_t i = 0; i < windows; ++i) {
    const double loss = loss_of(decoder, std::span(tokens).subspan(i * T, T + 1));
    CHECK(near(loss, expected["per_window_loss"][i]));
    sum += loss;
  }
  CHECK(near(sum / static_cast<double>(windows), expected["mean_loss"]));

  constexpr int begin = 1;
  std::size_t counted = 0;
  sum = 0;
  auto story = tokens.begin();
  for (int i = 0; i < 60; ++i) {
    const auto next = std::find(story + 1, tokens.end(), begin);
    const std::size_t length = std::min<std::size_t>(static_cast<std::size_t>(next - story), T);
    const std::size_t targets = length - 1;
    sum += loss_of(decoder, std::span(story, length)) * static_cast<double>(targets);
    counted += targets;
    story = next;
  }
  const Json& aligned = expected["first_60_stories_aligned"];
  CHECK(counted == aligned["tokens"]);
  CHECK(near(sum / static_cast<double>(counted), aligned["mean_loss"]));
}
