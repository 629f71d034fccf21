// The table of gradient checks. A check is a function that compares backward with differences for several shapes:
//
//   GRAD_CHECK(rms_norm) {
//     const Tensor x = table.uniform({3, 5}), gain = table.uniform({5});
//     table.check({{"x", x}, {"gain", gain}}, [=] { return rms_norm(x, gain, 1e-5); });
//   }
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "autograd/gradcheck.h"

namespace gradus::test {

class CheckTable {
 public:
  explicit CheckTable(std::string_view op) : op_(op) {}

  Rng rng{2026};
  Tensor uniform(const Shape& shape, double low = -1, double high = 1) { return random_uniform(shape, rng, low, high); }
  Tensor away_from_zero(const Shape& shape) { return random_away_from_zero(shape, rng); }

  void check(const std::vector<NamedTensor>& inputs, const std::function<Tensor()>& f, const GradCheckOptions& options = {});

  std::string shapes;   // what was checked: "x(3, 5) gain(5)", one group a case
  double error = 0;     // the largest
  std::string failure;  // the first
  std::size_t cases = 0;

 private:
  std::string op_;
};

struct RegisteredCheck {
  RegisteredCheck(std::string_view op, void (*run)(CheckTable&));
};

#define GRAD_CHECK(op)                                                                      \
  static void check_##op(::gradus::test::CheckTable& table);                                \
  static const ::gradus::test::RegisteredCheck registered_##op(#op, check_##op);            \
  static void check_##op([[maybe_unused]] ::gradus::test::CheckTable& table)

}  // namespace gradus::test
