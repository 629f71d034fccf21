// Contracts. An error says the operation, the rule, what was found, and what to try.
#pragma once

#include <concepts>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>

namespace gradus {

// A call broke the contract of an operation or a setting.
struct ShapeError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

// A file is missing, unreadable or not what its format says.
struct FileError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One value to be put into a message: a number, a text, or anything with text().
class MessageArgument {
 public:
  MessageArgument(std::signed_integral auto value) : value_(static_cast<long long>(value)) {}
  MessageArgument(std::unsigned_integral auto value) : value_(static_cast<unsigned long long>(value)) {}
  MessageArgument(std::floating_point auto value) : value_(static_cast<double>(value)) {}
  MessageArgument(std::convertible_to<std::string_view> auto const& value) : value_(std::string(value)) {}
  MessageArgument(const auto& value)
    requires requires { { value.text() } -> std::convertible_to<std::string>; }
      : value_(std::string(value.text())) {}

  const auto& value() const { return value_; }

 private:
  std::variant<long long, unsigned long long, double, std::string> value_;
};

// `rule` with each {} replaced by the next argument (fmt's syntax).
std::string format_message(std::string_view rule, std::span<const MessageArgument> arguments);

template <class... Arguments>
std::string message(std::string_view rule, const Arguments&... arguments) {
  if constexpr (sizeof...(arguments) == 0) {
    return format_message(rule, {});
  } else {
    const MessageArgument list[] = {MessageArgument(arguments)...};
    return format_message(rule, list);
  }
}

// Throws Error with the message unless `condition` holds. The arguments are looked at only on failure.
template <class Error = ShapeError, class... Arguments>
void expect(bool condition, std::string_view rule, const Arguments&... arguments) {
  if (condition) [[likely]]
    return;
  throw Error(message(rule, arguments...));
}

}  // namespace gradus
