// The program gnuplot, which draws.
#pragma once

#include <filesystem>
#include <string>

namespace gradus::optim {

// A text as gnuplot reads it: in single quotes, where nothing is special but the quote itself.
std::string gnuplot_quoted(const std::string& text);

// Lets gnuplot do what `text` says; for that time it stands in the file `script`. What is drawn goes by the name of `picture` in
// messages. Errors (FileError): gnuplot is not installed, or it failed; the script cannot be written.
void run_gnuplot(const std::filesystem::path& script, const std::string& text, const std::string& picture);

}  // namespace gradus::optim
