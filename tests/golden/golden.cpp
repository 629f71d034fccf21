#include "tests/golden/golden.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "autograd/error.h"

namespace gradus::golden {

File::File(const std::filesystem::path& path) : path_(path), file_(path), form_(path.stem().string()) {
  if (has_text("file")) form_ = text("file");
}

File File::sibling(const std::string& suffix) const {
  const std::string stem = path_.stem().string();
  return File(path_.parent_path() / (stem.substr(0, stem.rfind('.')) + "." + suffix + ".safetensors"));
}

std::vector<std::string> File::names(const std::string& prefix) const {
  std::vector<std::string> names = file_.names();
  std::erase_if(names, [&](const std::string& name) { return !name.starts_with(prefix); });
  return names;
}

Tensor File::tensor(const std::string& name) {
  touched_.insert(name);
  return file_.read(name);
}

std::vector<double> File::numbers(const std::string& name) {
  touched_.insert(name);
  if (file_.contains(name) && file_.dtype(name) != "I64") return file_.numbers(name);
  const std::vector<std::int64_t> integers = file_.integers(name);
  return {integers.begin(), integers.end()};
}

std::vector<int> File::ids(const std::string& name) {
  touched_.insert(name);
  std::vector<int> ids;
  for (const std::int64_t id : file_.integers(name)) ids.push_back(static_cast<int>(id));
  return ids;
}

const std::string& File::text(const std::string& key) const {
  const auto found = file_.metadata().find(key);
  expect<FileError>(found != file_.metadata().end(), "{}: the metadata have no \"{}\"", path_.string(), key);
  return found->second;
}

// 0 for equal numbers, the usual NaN and the infinities included; infinite where only one side is not finite.
static double error_of(double ours, double theirs, double tolerance) {
  if (ours == theirs || (std::isnan(ours) && std::isnan(theirs))) return 0;
  if (!std::isfinite(ours) || !std::isfinite(theirs)) return std::numeric_limits<double>::infinity();
  return std::abs(ours - theirs) / (tolerance * std::max(1.0, std::abs(theirs)));
}

void File::compare_numbers(const std::string& what, std::span<const double> ours, std::span<const double> theirs,
                           Tolerance tolerance, const Keep& keep) {
  ++report_.comparisons;
  if (ours.size() != theirs.size()) {
    require(false, message("{}: {} numbers, expected {}", what, ours.size(), theirs.size()));
    return;
  }
  double worst = 0;
  std::size_t worst_index = 0, left_out = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (keep && !keep(i)) {
      ++left_out;
    } else if (const double error = error_of(ours[i], theirs[i], tolerance.now()); error > worst) {
      worst = error;
      worst_index = i;
    }
  }
  if (left_out > 0) ++report_.by_rule;
  if (left_out == ours.size() && left_out > 0) --report_.comparisons;
  if (worst > report_.worst) {
    report_.worst = worst;
    report_.worst_at = what;
  }
  if (worst > 1)
    require(false, message("{}[{}] is {}, expected {}: {} times the tolerance {}", what, worst_index,
                           ours[worst_index], theirs[worst_index], worst, tolerance.now()));
}

void File::compare(const std::string& name, std::span<const double> ours, Tolerance tolerance, const Keep& keep) {
  compare_numbers(name, ours, numbers(name), tolerance, keep);
}

void File::compare(const std::string& name, const Tensor& ours, Tolerance tolerance, const Keep& keep) {
  const std::span<const Real> values = ours.values();
  compare(name, std::vector<double>(values.begin(), values.end()), tolerance, keep);
}

void File::compare_gradient(const std::string& name, const Tensor& leaf, Tolerance tolerance, const Keep& keep) {
  std::vector<double> gradient(leaf.grad().begin(), leaf.grad().end());
  gradient.resize(leaf.size());
  compare(name, gradient, tolerance, keep);
}

void File::by_rule(const std::string& name) {
  if (touched_.insert(name).second) ++report_.by_rule;
}

void File::by_rule_where(const std::function<bool(const std::string&)>& rule) {
  for (const std::string& name : names())
    if (rule(name)) by_rule(name);
}

void File::require_zero(const std::string& what, std::span<const Real> ours, const Keep& keep) {
  for (std::size_t i = 0; i < ours.size(); ++i)
    if (!keep(i) && ours[i] != 0) return require(false, message("{}[{}] is {}, our rule says 0", what, i, ours[i]));
}

void File::require(bool condition, const std::string& what) {
  if (!condition) report_.failures.push_back(what);
}

Report File::finish() {
  // X.f32 is X again with upstream's float rounding: X itself is nearer to the truth.
  by_rule_where([&](const std::string& name) {
    return name.ends_with(".f32") && has(name.substr(0, name.size() - 4)) && !touched_.contains(name);
  });
  for (const std::string& name : names())
    if (!touched_.contains(name)) ++report_.skipped;
  return report_;
}

Tensor Case::heads(const std::string& name) const {
  const Shape shape = this->shape(name);
  const Tensor stored = tensor(name);
  return Tensor({shape[0], shape[1], shape[2] * shape[3]}, stored.values()).set_requires_grad();
}

std::vector<Case> cases(File& file) {
  std::vector<Case> list;
  for (const Json& settings : file.json("cases")) {
    const std::size_t number = settings.value("case", list.size());
    list.emplace_back(file, message("c{}/", number), settings);
    file.count_case();
  }
  return list;
}

std::vector<Kind>& kinds() {
  static std::vector<Kind> all;
  return all;
}

Kind::Kind(std::string kind_name, std::function<bool(const File&)> rule, std::function<void(File&)> reader)
    : name(std::move(kind_name)), recognises(std::move(rule)), read(std::move(reader)) {
  kinds().push_back(*this);
}

Kind::Kind(const std::string& prefix, std::function<void(File&)> reader)
    : Kind(
          prefix,
          [prefix](const File& file) {
            const std::string& form = file.form();
            return form.starts_with(prefix) &&
                   (form.size() == prefix.size() || !std::isalpha(static_cast<unsigned char>(form[prefix.size()])));
          },
          std::move(reader)) {}

}  // namespace gradus::golden
