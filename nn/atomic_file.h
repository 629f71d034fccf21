// A file that is there whole or not at all.
//
// What is written goes to a temporary file beside the target, "<target>.partial". commit() brings it to the disk and
// renames it over the target, which is one step for the file system: a program that is killed at any moment leaves
// the old file or the new one, never half of one. A left-over temporary is overwritten by the next attempt.
#pragma once

#include <cstddef>
#include <cstdio>
#include <filesystem>

namespace gradus::nn {

class AtomicFile {
 public:
  // Errors: FileError, with the path and the system's reason, here and in every call below.
  explicit AtomicFile(const std::filesystem::path& target);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();  // without commit(): the target stays as it was

  void write(const void* data, std::size_t bytes);
  void write_at(long offset, const void* data, std::size_t bytes);  // over what was written there; goes on at the end
  void commit();

 private:
  [[noreturn]] void fail(const char* action) const;

  std::filesystem::path target_;
  std::filesystem::path temporary_;
  std::FILE* file_;
  bool committed_ = false;
};

// Brings a folder's list of names to the disk: after this, what was renamed in it stays renamed. Where the file system
// cannot, nothing happens.
void sync_folder(const std::filesystem::path& folder);

}  // namespace gradus::nn
