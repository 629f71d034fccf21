// Reference numbers of other people's models and of PyTorch, in safetensors files (see their README.md).
//
// A kind of file has a reader, chosen by the file's form and driven by the file's own metadata: shapes, seeds and
// settings are the file's business. Every tensor of a file is an input, is compared, or is left out by a rule that the
// reader states; one that nobody touched is counted as skipped.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "autograd/tensor.h"
#include "nn/safetensors.h"

namespace gradus::golden {

using Json = nlohmann::json;

inline constexpr bool in_double = sizeof(Real) == 8;

// |ours − theirs| ≤ tolerance · max(1, |theirs|), in either flavour.
struct Tolerance {
  double f64, f32;
  double now() const { return in_double ? f64 : f32; }
};
inline constexpr Tolerance operation{1e-12, 2e-6};
inline constexpr Tolerance model{1e-11, 2e-5};  // logits, hidden states, gradients
inline constexpr Tolerance loss{1e-12, 2e-6};
inline constexpr Tolerance optimizer{1e-12, 1e-5};
inline constexpr Tolerance training{1e-9, 2e-5};
inline constexpr Tolerance probability{1e-12, 1e-6};
inline constexpr Tolerance exact{0, 0};  // sizes, ids

// Of the flat index of a number: whether it is compared.
using Keep = std::function<bool(std::size_t)>;

struct Report {
  std::size_t cases = 0;
  std::size_t comparisons = 0;  // of tensors
  std::size_t by_rule = 0;      // tensors that a rule leaves out, in whole or in part
  std::size_t skipped = 0;      // tensors that nobody touched
  double worst = 0;             // error / tolerance
  std::string worst_at;
  std::vector<std::string> failures;
};

class File {
 public:
  explicit File(const std::filesystem::path& path);

  // "op.rmsnorm": what the metadata call the file, or its name without the extension.
  const std::string& form() const { return form_; }
  const std::filesystem::path& path() const { return path_; }
  // "mm_tiny.io" → the file "mm_tiny.weights" beside it.
  File sibling(const std::string& suffix) const;

  bool has(const std::string& name) const { return file_.contains(name); }
  std::vector<std::string> names(const std::string& prefix = "") const;
  Shape shape(const std::string& name) const { return file_.shape(name); }

  // Inputs. A leaf wants a gradient.
  Tensor tensor(const std::string& name);
  Tensor leaf(const std::string& name) { return tensor(name).set_requires_grad(); }
  std::vector<double> numbers(const std::string& name);  // F32 and F64 unrounded, I64 as they are
  std::vector<int> ids(const std::string& name);         // I64

  // Metadata: a text as it is, and what is JSON within a text. Errors: no such key.
  bool has_text(const std::string& key) const { return file_.metadata().contains(key); }
  const std::string& text(const std::string& key) const;
  Json json(const std::string& key) const { return Json::parse(text(key)); }

  // Compares with the tensor `name`. NaN equals NaN, an infinity itself.
  void compare(const std::string& name, std::span<const double> ours, Tolerance tolerance = operation,
               const Keep& keep = {});
  void compare(const std::string& name, const Tensor& ours, Tolerance tolerance = operation, const Keep& keep = {});
  // A leaf without a gradient has one of zeros.
  void compare_gradient(const std::string& name, const Tensor& leaf, Tolerance tolerance = operation,
                        const Keep& keep = {});
  // The same, of numbers that are no tensor of the file, or only a part of one.
  void compare_numbers(const std::string& what, std::span<const double> ours, std::span<const double> theirs,
                       Tolerance tolerance, const Keep& keep = {});
  // Leaves out a tensor whose meaning here is another, for a reason that stands at the call.
  void by_rule(const std::string& name);
  void count_by_rule() { ++report_.by_rule; }
  void by_rule_where(const std::function<bool(const std::string&)>& rule);
  // What `keep` leaves out is 0 here.
  void require_zero(const std::string& what, std::span<const Real> ours, const Keep& keep);
  void require(bool condition, const std::string& what);
  void count_case() { ++report_.cases; }

  // What was found, once the reader is through.
  Report finish();

 private:
  std::filesystem::path path_;
  nn::SafetensorsFile file_;
  std::string form_;
  std::set<std::string> touched_;
  Report report_;
};

// One of a file's "cases": the tensors under its prefix "cN/" and its settings.
class Case {
 public:
  Case(File& file, std::string prefix, Json settings)
      : file_(file), prefix_(std::move(prefix)), settings_(std::move(settings)) {}

  const Json& operator[](const char* key) const { return settings_.at(key); }
  template <class T>
  T get(const char* key) const { return settings_.at(key).get<T>(); }
  const Json& settings() const { return settings_; }
  const std::string& prefix() const { return prefix_; }
  File& file() const { return file_; }

  bool has(const std::string& name) const { return file_.has(prefix_ + name); }
  Shape shape(const std::string& name) const { return file_.shape(prefix_ + name); }
  Tensor tensor(const std::string& name) const { return file_.tensor(prefix_ + name); }
  // The same numbers as (B, T, H · D), where the file has (B, T, H, D).
  Tensor heads(const std::string& name) const;
  Tensor leaf(const std::string& name) const { return file_.leaf(prefix_ + name); }
  std::vector<double> numbers(const std::string& name) const { return file_.numbers(prefix_ + name); }
  std::vector<int> ids(const std::string& name) const { return file_.ids(prefix_ + name); }
  void compare(const std::string& name, const Tensor& ours, Tolerance tolerance = operation,
               const Keep& keep = {}) const {
    file_.compare(prefix_ + name, ours, tolerance, keep);
  }
  void compare_gradient(const std::string& name, const Tensor& leaf, Tolerance tolerance = operation,
                        const Keep& keep = {}) const {
    file_.compare_gradient(prefix_ + name, leaf, tolerance, keep);
  }

 private:
  File& file_;
  std::string prefix_;
  Json settings_;
};

// All cases of a file, counted.
std::vector<Case> cases(File& file);

// A kind of file. One of these at namespace scope registers its reader:  static const Kind rms("op.rmsnorm", read);
struct Kind {
  // Files whose form is `prefix`, or begins with it and goes on with no letter: "op.rmsnorm", "op.rmsnorm_2".
  Kind(const std::string& prefix, std::function<void(File&)> reader);
  // Files for which `recognises` says so.
  Kind(std::string kind_name, std::function<bool(const File&)> rule, std::function<void(File&)> reader);

  std::string name;
  std::function<bool(const File&)> recognises;
  std::function<void(File&)> read;
};
std::vector<Kind>& kinds();

}  // namespace gradus::golden
