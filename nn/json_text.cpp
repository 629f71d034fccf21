#include "nn/json_text.h"

#include <nlohmann/json.hpp>

namespace gradus::nn {

using Json = nlohmann::json;

Json parse_json(std::string_view text) {
  constexpr int deepest = 32;
  struct TooDeep {};
  const auto check_depth = [](int depth, Json::parse_event_t, const Json&) {
    if (depth > deepest) throw TooDeep();
    return true;
  };
  try {
    return Json::parse(text, check_depth, false);
  } catch (TooDeep) {
    return Json(Json::value_t::discarded);
  }
}

}  // namespace gradus::nn
