// Fewer numbers from many: sum, mean and maximum, over one axis or over all.
#pragma once

#include "autograd/tensor.h"

namespace gradus {

// Whether the reduced axis stays, with extent 1, or goes.
enum class KeepAxis { no, yes };

// Over everything: any shape → ().
Tensor sum(const Tensor& x);
Tensor mean(const Tensor& x);  // errors: x is empty
Tensor max(const Tensor& x);   // errors: x is empty

// Over one axis: (…, n, …) → (…, …), or (…, 1, …) with KeepAxis::yes.
// Errors: no such axis; mean and max: n is 0.
Tensor sum(const Tensor& x, std::size_t axis, KeepAxis keep = KeepAxis::no);
Tensor mean(const Tensor& x, std::size_t axis, KeepAxis keep = KeepAxis::no);
// Among equal maxima the first takes the whole gradient. A NaN anywhere is the maximum.
Tensor max(const Tensor& x, std::size_t axis, KeepAxis keep = KeepAxis::no);

}  // namespace gradus
