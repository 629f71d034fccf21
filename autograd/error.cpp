#include "autograd/error.h"

#include <fmt/args.h>
#include <fmt/format.h>

namespace gradus {

std::string format_message(std::string_view rule, std::span<const MessageArgument> arguments) {
  fmt::dynamic_format_arg_store<fmt::format_context> store;
  for (const MessageArgument& argument : arguments)
    std::visit([&](const auto& value) { store.push_back(value); }, argument.value());
  return fmt::vformat(rule, store);
}

}  // namespace gradus
