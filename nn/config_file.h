// config.json: a decoder's settings as a file.
#pragma once

#include <filesystem>
#include <string>

#include "nn/config.h"

namespace gradus::nn {

std::string config_to_json(const Config& config);

// Errors (FileError): no such file; not JSON; not a config of ours; a field that is missing, unknown or of another kind;
// a setting that Config::validate refuses. Each names the path and the field.
Config read_config(const std::filesystem::path& path);

}  // namespace gradus::nn
