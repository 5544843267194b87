// The entry that libFuzzer calls; CLEAVE_FUZZ_TARGET is the target's name.
#include "test/fuzz/Targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  cleave::fuzz::CLEAVE_FUZZ_TARGET({reinterpret_cast<const char *>(data), size});
  return 0;
}
