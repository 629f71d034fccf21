#include "nn/hugging_face_rope.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <set>

#include "autograd/error.h"

namespace gradus::nn {

using Json = nlohmann::ordered_json;

// The name of the setting that holds the scaling, "" for none.
static std::string section_name(const JsonSettings& settings) {
  const bool older = settings.has("rope_scaling"), newer = settings.has("rope_parameters");
  if (older && newer) settings.refuse("rope_scaling", "rope_parameters is there too; keep one of them");
  return older ? "rope_scaling" : newer ? "rope_parameters" : "";
}

static std::string kind_of(const JsonSettings& section) {
  if (!section.has("rope_type") && !section.has("type")) return "default";
  const std::string kind = section.text(section.has("rope_type") ? "rope_type" : "type");
  if (section.has("type") && section.text("type") != kind) section.refuse("type", "rope_type says otherwise");
  return kind;
}

static void allow_only(const JsonSettings& section, std::set<std::string> known) {
  known.insert({"type", "rope_type", "rope_theta"});
  for (const std::string& name : section.names())
    if (section.has(name) && !known.contains(name))
      section.refuse(name, "this is not supported for this kind of scaling");
}

// Both programs end YaRN's ramp inside the head, but not at the same point where the training's context is very long or
// very short for theta; where the formula's own end is inside, they agree.
static bool yarn_agrees(const Config& config) {
  const RopeScaling& scaling = config.rope_scaling;
  const double head_dim = static_cast<double>(config.resolved_head_dim());
  const auto point = [&](double turns) {
    const double length = static_cast<double>(scaling.original_context);
    return head_dim * std::log(length / (2 * std::numbers::pi * turns)) / (2 * std::log(config.rope_theta));
  };
  const double low = std::max(std::floor(point(scaling.beta_fast)), 0.0), high = std::ceil(point(scaling.beta_slow));
  return high >= low && high <= head_dim / 2 - 1;
}

static void read_yarn(const JsonSettings& section, Config& config) {
  allow_only(section, {"factor", "original_max_position_embeddings", "beta_fast", "beta_slow", "attention_factor",
                       "truncate"});
  if (!section.flag("truncate", true)) section.refuse("truncate", "only true is supported");
  RopeScaling& scaling = config.rope_scaling;
  scaling.kind = RopeScalingKind::yarn;
  scaling.factor = section.number("factor");
  if (!(scaling.factor >= 1 && scaling.factor < 1e6))
    section.refuse("factor", "it must be 1 or more and below a million");
  scaling.original_context = section.count("original_max_position_embeddings", config.context_length);
  scaling.beta_fast = section.number("beta_fast", 32);
  scaling.beta_slow = section.number("beta_slow", 1);
  scaling.attention_factor = section.number("attention_factor", 0.1 * std::log(scaling.factor) + 1);
  const double stretched = static_cast<double>(scaling.original_context) * scaling.factor;
  if (stretched < 1e15) config.context_length = std::max(config.context_length, static_cast<std::size_t>(stretched));
}

void read_rope(const JsonSettings& settings, Config& config) {
  config.rope_theta = settings.number("rope_theta", 10000);
  const std::string name = section_name(settings);
  if (name.empty()) return;
  const JsonSettings section = settings.section(name);
  config.rope_theta = section.number("rope_theta", config.rope_theta);

  RopeScaling& scaling = config.rope_scaling;
  const std::string kind = kind_of(section);
  if (kind == "default") {
    allow_only(section, {});
  } else if (kind == "linear") {
    allow_only(section, {"factor"});
    scaling.kind = RopeScalingKind::linear;
    scaling.factor = section.number("factor");
  } else if (kind == "llama3") {
    allow_only(section, {"factor", "original_max_position_embeddings", "low_freq_factor", "high_freq_factor"});
    scaling = {.kind = RopeScalingKind::llama3,
               .factor = section.number("factor"),
               .original_context = section.count("original_max_position_embeddings"),
               .beta_fast = section.number("high_freq_factor"),
               .beta_slow = section.number("low_freq_factor")};
  } else if (kind == "yarn") {
    read_yarn(section, config);
    config.validate();
    if (!yarn_agrees(config))
      section.refuse("original_max_position_embeddings", "for this rope_theta YaRN's ramp would end outside the head, "
                     "which is computed otherwise here");
  } else {
    section.refuse(section.has("rope_type") ? "rope_type" : "type",
                   "the kinds default, linear, llama3 and yarn are supported");
  }
}

static bool factor_reaches_context(const Config& config) {
  const RopeScaling& scaling = config.rope_scaling;
  return static_cast<double>(scaling.original_context) * scaling.factor == static_cast<double>(config.context_length);
}

std::size_t max_position_embeddings(const Config& config) {
  const bool stretched = config.rope_scaling.kind == RopeScalingKind::yarn && factor_reaches_context(config);
  return stretched ? config.rope_scaling.original_context : config.context_length;
}

Json rope_scaling_json(const Config& config) {
  const RopeScaling& scaling = config.rope_scaling;
  switch (scaling.kind) {
    case RopeScalingKind::none: return nullptr;
    case RopeScalingKind::linear: return {{"rope_type", "linear"}, {"factor", scaling.factor}};
    case RopeScalingKind::llama3:
      return {{"rope_type", "llama3"},
              {"factor", scaling.factor},
              {"low_freq_factor", scaling.beta_slow},
              {"high_freq_factor", scaling.beta_fast},
              {"original_max_position_embeddings", scaling.original_context}};
    case RopeScalingKind::yarn: break;
  }
  const bool slows = config.context_length > scaling.original_context;
  if (!slows && scaling.attention_factor == 1) return nullptr;
  expect(slows && yarn_agrees(config), "hugging face: YaRN with original_context {} at context_length {} and rope_theta "
         "{} is computed otherwise there; the model cannot be written so", scaling.original_context, config.context_length,
         config.rope_theta);
  Json json = {{"rope_type", "yarn"}, {"factor", scaling.factor}};
  if (!factor_reaches_context(config)) json["original_max_position_embeddings"] = scaling.original_context;
  json["beta_fast"] = scaling.beta_fast;
  json["beta_slow"] = scaling.beta_slow;
  json["attention_factor"] = scaling.attention_factor;
  return json;
}

}  // namespace gradus::nn
