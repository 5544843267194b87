// The entry point of libFuzzer; CLEAVE_FUZZ_TARGET is the name of the target.
#include "test/fuzz/Targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  cleave::fuzz::CLEAVE_FUZZ_TARGET({reinterpret_cast<const char *>(data), size});
  return 0;
}
