// The settings in another project's config.json, asked for one by one. A setting that is null counts as absent.
#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace gradus::nn {

class JsonSettings {
 public:
  // Errors here and below: FileError with the path, the setting, what was expected and what was found.
  JsonSettings(std::string_view text, const std::string& path);

  bool has(const std::string& name) const;
  std::vector<std::string> names() const;
  std::string shown(const std::string& name) const;  // its value as JSON, for messages

  // The value of a setting that must be there …
  std::size_t count(const std::string& name) const;  // 0 or more
  std::vector<std::size_t> counts(const std::string& name) const;  // one such number, or a list of them
  double number(const std::string& name) const;
  std::string text(const std::string& name) const;
  std::vector<std::string> texts(const std::string& name) const;
  JsonSettings section(const std::string& name) const;  // its settings are called "name.setting" in messages

  // … or may be left out.
  std::size_t count(const std::string& name, std::size_t otherwise) const {
    return has(name) ? count(name) : otherwise;
  }
  double number(const std::string& name, double otherwise) const { return has(name) ? number(name) : otherwise; }
  bool flag(const std::string& name, bool otherwise) const;

  // Throws: this setting is known, and its value is not supported for that reason.
  [[noreturn]] void refuse(const std::string& name, std::string_view reason) const;

 private:
  JsonSettings(std::shared_ptr<const nlohmann::json> json, std::string path, std::string prefix);
  const nlohmann::json& value(const std::string& name, std::string_view kind) const;
  [[noreturn]] void wrong(const std::string& name, std::string_view kind) const;

  std::shared_ptr<const nlohmann::json> json_;
  std::string path_;
  std::string prefix_;
};

}  // namespace gradus::nn
