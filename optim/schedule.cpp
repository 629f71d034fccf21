#include "optim/schedule.h"

#include <cmath>
#include <numbers>

#include "autograd/error.h"

namespace gradus::optim {

Schedule::Schedule(const ScheduleOptions& options) : options_(options) {
  expect(options.peak > 0 && std::isfinite(options.peak), "schedule: the peak rate {} must be above 0", options.peak);
  expect(options.floor >= 0 && options.floor <= options.peak,
         "schedule: the floor {} must lie between 0 and the peak {}", options.floor, options.peak);
  expect(options.warmup_steps <= options.decay_steps,
         "schedule: a warm-up of {} steps does not end before the decay at step {}; shorten it", options.warmup_steps,
         options.decay_steps);
}

double Schedule::rate(std::uint64_t step) const {
  const auto& [peak, floor, warmup, end] = options_;
  if (step >= end) return floor;
  if (step < warmup) return peak * static_cast<double>(step + 1) / static_cast<double>(warmup + 1);
  const double progress = static_cast<double>(step - warmup) / static_cast<double>(end - warmup);
  return floor + (peak - floor) * 0.5 * (1 + std::cos(std::numbers::pi * progress));
}

}  // namespace gradus::optim
