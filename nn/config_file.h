// config.json: a decoder's settings as a file.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "nn/config.h"

namespace gradus::nn {

std::string config_to_json(const Config& config);

// The settings of a file's text; the path is for messages.
// Errors (FileError): not JSON; not a config of ours; a field that is missing, unknown or of another kind; a setting that
// Config::validate refuses. Each names the path and the field.
Config config_from_json(std::string_view text, const std::string& path);
// The same from a file. Errors also: no such file.
Config read_config(const std::filesystem::path& path);

}  // namespace gradus::nn
