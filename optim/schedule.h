// The learning rate of each step: a short climb, a course, and an end at the floor.
//
//   cosine    /‾‾\.          linear    /\            constant   /‾‾‾‾‾‾‾‾     stable   /‾‾‾‾‾‾\          (warm-up, stable,
//            /     \.                 /   \                    /                      /        \          decay: WSD)
//           /        `‾‾             /       \‾‾              /                      /          \‾‾
//
// The climb keeps the first steps small, while Adam's averages rest on few gradients. The cosine is that of Loshchilov and
// Hutter, "SGDR: Stochastic gradient descent with warm restarts" (2017), equation 5, without restarts. The stable one is of
// Hu et al., "MiniCPM" (2024), section 4: a run can be lengthened as long as its decay has not begun.
#pragma once

#include <cstdint>
#include <string_view>

namespace gradus::optim {

enum class ScheduleKind { cosine, linear, constant, stable };

std::string_view word_of(ScheduleKind kind);
void from_word(std::string_view word, ScheduleKind& kind);  // errors: no such word, listing those there are

struct ScheduleOptions {
  ScheduleKind kind = ScheduleKind::cosine;
  double peak = 1e-3;
  double floor = 1e-4;
  std::uint64_t warmup_steps = 100;
  std::uint64_t decay_steps = 1000;  // counted from step 0; from here on the rate is the floor, but with `constant`
  double decay_fraction = 0.2;       // of decay_steps, at their end: how long the decay of `stable` takes
};

class Schedule {
 public:
  // Errors: not 0 ≤ floor ≤ peak, 0 < peak, warmup_steps ≤ decay_steps, 0 < decay_fraction ≤ 1.
  explicit Schedule(const ScheduleOptions& options);

  // The first step is step 0 and its rate is above 0: a step at rate 0 would be lost.
  double rate(std::uint64_t step) const;

 private:
  ScheduleOptions options_;
};

}  // namespace gradus::optim
