// Training steps of a model that somebody else trained, against what PyTorch computes for them in double.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "autograd/graph.h"
#include "nn/llama2c.h"
#include "optim/adamw.h"
#include "optim/clip.h"

using namespace gradus;
using namespace gradus::optim;
namespace fs = std::filesystem;
using Json = nlohmann::json;

static const fs::path shared = fs::path(GRADUS_SHARED_DIR) / "data";
static constexpr double tolerance = sizeof(Real) == 8 ? 1e-9 : 1e-4;

static bool absent() {
  for (const char* name : {"stories260K", "golden-train"})
    if (!fs::exists(shared / name)) {
      MESSAGE("skipped: " << (shared / name).string() << " is not there");
      return true;
    }
  return false;
}

static Json json_of(const char* name) {
  std::ifstream file(shared / "golden-train" / name);
  return Json::parse(file);
}

static nn::Decoder stories260k() { return nn::read_llama2c(shared / "stories260K" / "stories260K.bin"); }

static std::vector<int> flat(const Json& rows) {
  std::vector<int> ids;
  for (const Json& row : rows)
    for (const Json& id : row) ids.push_back(id);
  return ids;
}

// "layers.3.attention.query.weight" → what the reference calls it.
static std::string reference_name(const std::string& name) {
  static const std::vector<std::pair<std::string, std::string>> ends = {
      {"attention_norm.gain", "input_layernorm.weight"},
      {"feed_forward_norm.gain", "post_attention_layernorm.weight"},
      {"attention.query.weight", "self_attn.q_proj.weight"},
      {"attention.key.weight", "self_attn.k_proj.weight"},
      {"attention.value.weight", "self_attn.v_proj.weight"},
      {"attention.output.weight", "self_attn.o_proj.weight"},
      {"feed_forward.gate.weight", "mlp.gate_proj.weight"},
      {"feed_forward.up.weight", "mlp.up_proj.weight"},
      {"feed_forward.down.weight", "mlp.down_proj.weight"},
  };
  if (name == "embedding.weight") return "model.embed_tokens.weight";
  if (name == "norm.gain") return "model.norm.weight";
  for (const auto& [ours, theirs] : ends)
    if (name.ends_with(ours)) return "model." + name.substr(0, name.size() - ours.size()) + theirs;
  return name;
}

static std::string shape_text(const Json& extents) {
  const auto extent = [&](std::size_t axis) { return extents[axis].get<std::size_t>(); };
  return (extents.size() == 1 ? Shape{extent(0)} : Shape{extent(0), extent(1)}).text();
}

static void check_close(double ours, double theirs, double scale, const std::string& what) {
  INFO(what << ": " << ours << " and not " << theirs);
  CHECK(std::abs(ours - theirs) <= tolerance * scale);
}

static std::vector<Tensor> tensors_of(const nn::Decoder& decoder) {
  std::vector<Tensor> tensors;
  for (const nn::Parameter& parameter : nn::parameters(decoder)) tensors.push_back(parameter.tensor);
  return tensors;
}

TEST_CASE("loss, gradient norm and every tensor's gradient are those of the reference") {
  if (absent()) return;
  const Json reference = json_of("stories260K-b4t64.json");
  const nn::Decoder decoder = stories260k();
  const Tensor loss = decoder.loss(flat(reference["inputs"]), flat(reference["targets"]), 4);
  check_close(static_cast<double>(loss.item()), reference["loss"], 1, "loss");
  loss.backward();
  const double norm = reference["grad_l2_total"];
  check_close(gradient_norm(tensors_of(decoder)), norm, norm, "gradient norm");

  // The reference turns the first half of a head against the second and so has the rows of queries and keys in another
  // order. The first row and the last are the same in both.
  const Json& gradients = reference["grads"];
  const std::vector<nn::Parameter> weights = nn::parameters(decoder);
  CHECK(weights.size() == gradients.size());
  for (const nn::Parameter& weight : weights) {
    const Json& expected = gradients.at(reference_name(weight.name));
    CHECK(weight.tensor.shape().text() == shape_text(expected["shape"]));
    const double length = expected["l2"];
    check_close(gradient_norm(std::span(&weight.tensor, 1)), length, length, weight.name);
    const std::span<const Real> gradient = weight.tensor.grad();
    for (std::size_t i = 0; i < 4; ++i) {
      check_close(static_cast<double>(gradient[i]), expected["first4"][i], length, weight.name);
      check_close(static_cast<double>(gradient[gradient.size() - 4 + i]), expected["last4"][i], length, weight.name);
    }
  }
}

TEST_CASE("ten AdamW steps, with clipping and decay of matrices alone, go where those of the reference go") {
  if (absent()) return;
  const Json reference = json_of("stories260K-b4t64.json");
  const Json& settings = reference["adamw"];
  const nn::Decoder decoder = stories260k();
  std::vector<Tensor> weights = tensors_of(decoder);
  AdamW optimizer(decay_matrices(weights, settings["weight_decay_2d"]),
                  {.beta1 = settings["betas"][0], .beta2 = settings["betas"][1], .epsilon = settings["eps"]});
  const std::vector<int> inputs = flat(reference["inputs"]), targets = flat(reference["targets"]);
  for (const Json& step : settings["trajectory"]) {
    const std::string where = "step " + step["step"].dump();
    const Tensor loss = decoder.loss(inputs, targets, 4);
    loss.backward();
    const double norm = clip_grad_norm(weights, settings["clip_grad_norm"]);
    optimizer.step(settings["lr"]);
    for (Tensor& weight : weights) weight.clear_grad();
    check_close(static_cast<double>(loss.item()), step["loss"], 1, where);
    check_close(norm, step["grad_norm"], step["grad_norm"], where);
  }
  const NoGrad guard;
  check_close(static_cast<double>(decoder.loss(inputs, targets, 4).item()), settings["loss_after_10_steps"], 1,
              "after ten steps");
}

namespace {

struct Texts {
  std::vector<int> ids;              // one after the other
  std::vector<std::size_t> lengths;  // each begins with the begin token
};

}  // namespace

static Texts first_stories() {
  constexpr int begin_token = 1;
  std::ifstream file(shared / "golden-train" / "tinystories-first200-tok512.u16", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  Texts texts;
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
    const int id = static_cast<unsigned char>(bytes[i]) + 256 * static_cast<unsigned char>(bytes[i + 1]);
    texts.ids.push_back(id);
    if (id == begin_token) texts.lengths.push_back(0);
    ++texts.lengths.back();
  }
  return texts;
}

static double loss_of(const nn::Decoder& decoder, std::span<const int> ids, std::size_t begin, std::size_t length) {
  return static_cast<double>(decoder.loss(ids.subspan(begin, length), ids.subspan(begin + 1, length), 1).item());
}

TEST_CASE("the evaluation losses of two hundred stories are those of the reference") {
  if (absent()) return;
  const Json reference = json_of("stories260K-loss-512.json");
  const NoGrad guard;
  const nn::Decoder decoder = stories260k();
  const Texts texts = first_stories();
  CHECK(texts.ids.size() == reference["tokens"]);
  CHECK(texts.lengths.size() == reference["stories"]);
  const std::size_t window = reference["window"];
  double sum = 0;
  for (std::size_t i = 0; i < reference["per_window_loss"].size(); ++i) {
    const double loss = loss_of(decoder, texts.ids, i * window, window);
    sum += loss;
    check_close(loss, reference["per_window_loss"][i], 1, "window " + std::to_string(i));
  }
  check_close(sum / reference["windows"].get<double>(), reference["mean_loss"], 1, "mean of the windows");
}

TEST_CASE("the loss of sixty stories, each from its beginning, is that of the reference") {
  if (absent()) return;
  const Json reference = json_of("stories260K-loss-512.json")["first_60_stories_aligned"];
  const NoGrad guard;
  const nn::Decoder decoder = stories260k();
  const Texts texts = first_stories();
  double sum = 0, counted = 0;
  std::size_t begin = 0;
  for (std::size_t story = 0; story < 60; ++story) {
    const std::size_t length = std::min<std::size_t>(texts.lengths[story], 512) - 1;
    sum += static_cast<double>(length) * loss_of(decoder, texts.ids, begin, length);
    counted += static_cast<double>(length);
    begin += texts.lengths[story];
  }
  CHECK(counted == reference["tokens"]);
  check_close(sum / counted, reference["mean_loss"], 1, "mean of the predicted tokens");
}
