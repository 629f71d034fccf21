// gradus audit: what a run would really be taught, token by token.
#pragma once

#include "chapters/gradus/train.h"

namespace gradus::tool {

struct AuditOptions {
  TrainOptions data;  // what `gradus train` would be given
  std::size_t rows = 2;
};

void audit(const AuditOptions& options);

}  // namespace gradus::tool
