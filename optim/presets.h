// How each preset of nn::presets is trained.
#pragma once

#include <string_view>

#include "optim/trainer.h"

namespace gradus::optim {

// A preset without settings of its own is trained with the defaults.
TrainerOptions training_settings(std::string_view preset);

}  // namespace gradus::optim
