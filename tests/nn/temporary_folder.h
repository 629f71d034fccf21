// A folder for one test's files, gone with its end.
#pragma once

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

namespace gradus {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    static std::random_device device;
    do path_ = std::filesystem::temp_directory_path() / ("gradus_test_" + std::to_string(device()));
    while (!std::filesystem::create_directory(path_));
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

  std::filesystem::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace gradus
