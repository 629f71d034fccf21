#include "optim/presets.h"

namespace gradus::optim {

TrainerOptions training_settings(std::string_view preset) {
  if (preset == "stories") return {.steps = 2200, .batch = 8, .rate = 2e-3};
  if (preset == "minute") return {.steps = 1150, .batch = 8, .rate = 3e-3};
  if (preset == "five-minutes") return {.steps = 1850, .batch = 16, .rate = 2e-3};
  if (preset == "thirty-minutes") return {.steps = 2400, .batch = 16, .rate = 1.5e-3};
  if (preset == "shakespeare") return {.steps = 2000, .batch = 12, .rate = 2e-3};
  return {};
}

}  // namespace gradus::optim
