// The settings of other people's models as our Config.
#pragma once

#include "nn/config.h"
#include "tests/golden/golden.h"

namespace gradus::golden {

// A setting, or its default where it is absent or null.
template <class T>
T setting(const Json& config, const char* key, T otherwise) {
  const auto found = config.find(key);
  return found == config.end() || found->is_null() ? otherwise : found->get<T>();
}

// minimind's "rope_scaling": an empty object is none.
RopeScaling scaling_of(const Json& settings);

// jingyaogong/minimind, as of January 2026; without its rope_scaling.
nn::Config minimind_config(const Json& config);
// datawhalechina/happy-llm, chapter 5. `theta` stands outside its config.
nn::Config happy_config(const Json& config, double theta = 10000);

}  // namespace gradus::golden
