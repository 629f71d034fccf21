#include "optim/schedule.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "autograd/error.h"
#include "nn/words.h"

namespace gradus::optim {

static constexpr std::array kinds = {
    nn::Word{ScheduleKind::cosine, "cosine"}, nn::Word{ScheduleKind::linear, "linear"},
    nn::Word{ScheduleKind::constant, "constant"}, nn::Word{ScheduleKind::stable, "stable"}};

std::string_view word_of(ScheduleKind kind) { return nn::word_in(kinds, kind); }
void from_word(std::string_view word, ScheduleKind& kind) { nn::choose("schedule", kinds, word, kind); }

Schedule::Schedule(const ScheduleOptions& options) : options_(options) {
  expect(options.peak > 0 && std::isfinite(options.peak), "schedule: the peak rate {} must be above 0", options.peak);
  expect(options.floor >= 0 && options.floor <= options.peak,
         "schedule: the floor {} must lie between 0 and the peak {}", options.floor, options.peak);
  expect(options.warmup_steps <= options.decay_steps,
         "schedule: a warm-up of {} steps does not end before the decay at step {}; shorten it", options.warmup_steps,
         options.decay_steps);
  expect(options.decay_fraction > 0 && options.decay_fraction <= 1,
         "schedule: the decay must take a part of the steps above 0 and up to 1, not {}", options.decay_fraction);
}

double Schedule::rate(std::uint64_t step) const {
  const auto& [kind, peak, floor, warmup, end, decay_fraction] = options_;
  if (step < warmup) return peak * static_cast<double>(step + 1) / static_cast<double>(warmup + 1);
  if (kind == ScheduleKind::constant) return peak;
  if (step >= end) return floor;
  const double progress = static_cast<double>(step - warmup) / static_cast<double>(end - warmup);
  if (kind == ScheduleKind::cosine) return floor + (peak - floor) * 0.5 * (1 + std::cos(std::numbers::pi * progress));
  if (kind == ScheduleKind::linear) return floor + (peak - floor) * (1 - progress);
  const double decay = std::min(decay_fraction * static_cast<double>(end), static_cast<double>(end - warmup));
  return floor + (peak - floor) * std::min(1.0, static_cast<double>(end - step) / decay);
}

}  // namespace gradus::optim
