// The learning rate of each step: a short climb, then half a cosine down to a floor.
//
//   rate
//   peak    /‾‾\.
//          /     \.
//         /        \.
//   floor/            `‾‾‾‾‾‾‾
//        0 warm-up    decay_steps
//
// The climb keeps the first steps small, while Adam's averages rest on few gradients.
// Loshchilov and Hutter, "SGDR: Stochastic gradient descent with warm restarts" (2017), equation 5, without restarts.
#pragma once

#include <cstdint>

namespace gradus::optim {

struct ScheduleOptions {
  double peak = 1e-3;
  double floor = 1e-4;
  std::uint64_t warmup_steps = 100;
  std::uint64_t decay_steps = 1000;  // counted from step 0; from here on the rate is the floor
};

class Schedule {
 public:
  // Errors: not 0 ≤ floor ≤ peak, 0 < peak, warmup_steps ≤ decay_steps.
  explicit Schedule(const ScheduleOptions& options);

  // The first step is step 0 and its rate is above 0: a step at rate 0 would be lost.
  double rate(std::uint64_t step) const;

 private:
  ScheduleOptions options_;
};

}  // namespace gradus::optim
