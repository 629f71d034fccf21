// Whole files: the header, and every tensor that it claims.
#include "nn/safetensors.h"

#include "tests/fuzz/target.h"

using namespace gradus;

FUZZ(bytes) {
  fuzz::expect_no_surprise([&] {
    const nn::SafetensorsFile file(fuzz::as_file(bytes));
    for (const std::string& name : file.names()) {
      fuzz::expect_no_surprise([&] { file.read(name); });
      fuzz::expect_no_surprise([&] { file.integers(name); });
    }
  });
}
