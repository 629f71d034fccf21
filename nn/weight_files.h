// A model's tensors as a folder keeps them: all in model.safetensors, or in several files with an index beside them.
//
//   model.safetensors.index.json   {"metadata": {…}, "weight_map": {"name": "model-00001-of-00002.safetensors", …}}
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "nn/config.h"
#include "nn/safetensors.h"

namespace gradus::nn {

class WeightFiles {
 public:
  // Errors here and below: FileError, with the path. An index is refused that names a file outside the folder, or that
  // does not agree with its files about who has which tensor; all differences are listed.
  explicit WeightFiles(const std::filesystem::path& folder);

  const std::filesystem::path& path() const { return path_; }  // of the one file or the index
  std::vector<std::string> names() const;                      // in alphabetical order
  std::size_t size() const { return place_.size(); }
  bool contains(const std::string& name) const { return place_.contains(name); }
  Shape shape(const std::string& name) const { return file_of(name).shape(name); }
  const std::string& dtype(const std::string& name) const { return file_of(name).dtype(name); }
  void read_into(const std::string& name, Tensor& tensor) const { file_of(name).read_into(name, tensor); }
  Tensor read(const std::string& name) const { return file_of(name).read(name); }

 private:
  const SafetensorsFile& file_of(const std::string& name) const;
  void add(const SafetensorsFile& file);

  std::filesystem::path path_;
  std::vector<SafetensorsFile> files_;
  std::map<std::string, std::size_t> place_;  // of a tensor's file in files_
};

// Checks, before anything is allocated or read, that the files hold exactly a table's tensors, each of its shape.
// `name_of` says what the files call "layers.3.norm.gain"; tensors for which `ignored` is true may be there as well.
// Errors: FileError with every tensor that is missing, unexpected or of another shape, a line each.
void expect_tensors(const WeightFiles& files, const std::vector<ParameterCount>& table,
                    const std::filesystem::path& config, const std::function<std::string(const std::string&)>& name_of,
                    const std::function<bool(const std::string&)>& ignored = [](const std::string&) { return false; });

}  // namespace gradus::nn
