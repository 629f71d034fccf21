// A file that may not be read for the time. Root may read every file, so it acts as another user meanwhile.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

namespace gradus {

class LockedFile {
 public:
  explicit LockedFile(const std::filesystem::path& path) {
    std::filesystem::permissions(path, std::filesystem::perms::none);
    if (root_) REQUIRE(seteuid(nobody) == 0);
  }
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;
  ~LockedFile() {
    if (root_) CHECK(seteuid(0) == 0);
  }

 private:
  static constexpr uid_t nobody = 65534;
  const bool root_ = geteuid() == 0;
};

}  // namespace gradus
