// A training run as a folder of checkpoints.
//
//   step-000100/    a checkpoint: a model's folder and what the trainer needs to go on
//   step-000200/
//   latest          a line with the name of the newest
//   best            a line with the name of the one with the lowest validation loss, if there is one
//   metrics.csv
//
// A checkpoint is written under another name, brought to the disk and renamed, and then `latest` is replaced, which is
// one step for the file system. A program that is killed at any moment leaves a `latest` that names a whole checkpoint.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace gradus::optim {

class RunFolder {
 public:
  // The folder is made where it is not there, and what a killed program left half-written in it is removed.
  // Errors here and below: FileError with the path and the system's reason.
  explicit RunFolder(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  static bool has_checkpoint(const std::filesystem::path& path) { return std::filesystem::exists(path / "latest"); }
  std::filesystem::path latest() const;  // errors: there is none

  // Makes step-<step>/ of the files that `write` puts into the folder it is given, and makes it the latest. Of the
  // others, the one before and the best stay. Where this step is the latest already, its files stay as they are.
  void save(std::uint64_t step, bool best, const std::function<void(const std::filesystem::path&)>& write);

 private:
  std::string name_in(const char* pointer) const;
  void point(const char* pointer, const std::string& name) const;
  void remove_others(const std::string& newest) const;
  void discard(const std::string& name) const;

  std::filesystem::path path_;
};

}  // namespace gradus::optim
