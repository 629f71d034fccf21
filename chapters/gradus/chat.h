// gradus chat: a conversation with a model that has learnt to answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "nn/text/sampler.h"

namespace gradus::tool {

struct ChatOptions {
  std::string model;
  std::optional<std::string> chat_template;  // none: the model's own
  std::string system;                        // a first message; empty: none
  std::size_t tokens = 256;                  // of an answer, at most
  nn::SamplerOptions sampler = {.temperature = 0.8};
  std::uint64_t seed = 1;
  std::size_t threads = 0;
};

void chat(const ChatOptions& options);

}  // namespace gradus::tool
