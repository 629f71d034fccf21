// gradus info: what a model is made of, or what this machine offers.
#pragma once

#include <string>

namespace gradus::tool {

struct InfoOptions {
  std::string preset;    // describe a preset,
  std::string model;     // a folder,
  bool machine = false;  // or this machine
};

void info(const InfoOptions& options);

}  // namespace gradus::tool
