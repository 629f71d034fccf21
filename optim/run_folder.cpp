#include "optim/run_folder.h"

#include <algorithm>
#include <fstream>
#include <vector>

#include "autograd/error.h"
#include "nn/atomic_file.h"
#include "nn/checkpoint.h"

namespace gradus::optim {

namespace fs = std::filesystem;

static constexpr const char* half_written = ".partial";

static std::vector<std::string> checkpoints_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (const std::string name = entry.path().filename().string(); entry.is_directory() && name.starts_with("step-"))
      names.push_back(name);
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;  // step-1000000 comes after step-999999
  });
  return names;
}

static void try_to(const char* action, const fs::path& path, const std::error_code& problem) {
  expect<FileError>(!problem, "{}: cannot {} it: {}", path.string(), action, problem.message());
}

RunFolder::RunFolder(const fs::path& path) : path_(path) {
  std::error_code problem;
  fs::create_directories(path, problem);
  try_to("make", path, problem);
  for (const std::string& name : checkpoints_in(path_))
    if (name.ends_with(half_written)) discard(name);
}

std::string RunFolder::name_in(const char* pointer) const {
  std::ifstream file(path_ / pointer);
  std::string name;
  std::getline(file, name);
  return name;
}

void RunFolder::point(const char* pointer, const std::string& name) const {
  nn::AtomicFile file(path_ / pointer);
  file.write((name + "\n").data(), name.size() + 1);
  file.commit();
}

fs::path RunFolder::latest() const {
  expect<FileError>(has_checkpoint(path_), "{}: holds no training run: expected a file `latest` that names a checkpoint; "
                    "`gradus train --out DIR` makes one", path_.string());
  return nn::resolve_checkpoint(path_);
}

void RunFolder::remove_others(const std::string& newest) const {
  const std::vector<std::string> names = checkpoints_in(path_);
  const auto place = std::find(names.begin(), names.end(), newest);
  const std::string before = place != names.begin() && place != names.end() ? *(place - 1) : "";
  const std::string best = name_in("best");
  for (const std::string& name : names)
    if (name != newest && name != before && name != best) discard(name);
}

// Under the name of something half-written before its files go one by one, so that nobody takes it for a checkpoint.
void RunFolder::discard(const std::string& name) const {
  std::error_code problem;
  const fs::path doomed = path_ / (name.ends_with(half_written) ? name : name + half_written);
  if (!name.ends_with(half_written)) fs::rename(path_ / name, doomed, problem);
  if (!problem) fs::remove_all(doomed, problem);
  try_to("remove", path_ / name, problem);
}

void RunFolder::save(std::uint64_t step, bool best, const std::function<void(const fs::path&)>& write) {
  std::string digits = std::to_string(step);
  digits.insert(0, 6 - std::min<std::size_t>(6, digits.size()), '0');
  const std::string name = "step-" + digits;
  if (name_in("latest") != name) {
    if (fs::exists(path_ / name)) discard(name);  // from a program that was killed before it could call it the latest
    const fs::path partial = path_ / (name + half_written);
    std::error_code problem;
    try {
      fs::create_directory(partial, problem);
      try_to("make", partial, problem);
      write(partial);
    } catch (...) {
      fs::remove_all(partial, problem);
      throw;
    }
    fs::rename(partial, path_ / name, problem);
    try_to("rename", partial, problem);
    nn::sync_folder(path_);
  }
  point("latest", name);
  if (best) point("best", name);
  remove_others(name);
}

}  // namespace gradus::optim
