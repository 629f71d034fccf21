// gradus convert: a model in another form.
#pragma once

#include <string>

namespace gradus::tool {

struct ConvertOptions {
  std::string in;
  std::string out;        // a new folder, or for llama2c a new .bin
  std::string to;         // gradus, hf or llama2c
  std::string tokenizer;  // empty: the one beside the model
  std::string dtype = "f32";
};

void convert(const ConvertOptions& options);

}  // namespace gradus::tool
