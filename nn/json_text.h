// JSON that comes from anywhere, as a value that can be walked without harm.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace gradus::nn {

// The value of a text. A discarded one for text that is not JSON, and for text nested deeper than any file of a model:
// to copy or print such a value takes a call a level, and a million of them overflow the stack.
nlohmann::json parse_json(std::string_view text);

}  // namespace gradus::nn
