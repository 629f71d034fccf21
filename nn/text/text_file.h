// A whole file as a text.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace gradus::nn {

// `what` is what the file should be, as in "a vocabulary".
// Errors: FileError with the path and the system's reason.
std::string read_text_file(const std::filesystem::path& path, std::string_view what);

}  // namespace gradus::nn
