// A broken BLAS: every product is zero. Preloaded to see that the self check notices.
#include <cstddef>

template <class Number>
static void zero(int m, int n, Number* c, int c_stride) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) c[static_cast<std::ptrdiff_t>(i) * c_stride + j] = 0;
}

extern "C" {
void cblas_sgemm(int, int, int, int m, int n, int, float, const float*, int, const float*, int, float, float* c,
                 int c_stride) {
  zero(m, n, c, c_stride);
}
void cblas_dgemm(int, int, int, int m, int n, int, double, const double*, int, const double*, int, double, double* c,
                 int c_stride) {
  zero(m, n, c, c_stride);
}
}
