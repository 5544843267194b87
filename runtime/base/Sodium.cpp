// See Sodium.h.
#include "runtime/base/Sodium.h"

#include <cstdio>
#include <cstdlib>
#include <sodium.h>

namespace cleave {

void startSodium() {
  if (sodium_init() >= 0) // 1 if it was called before
    return;
  std::fputs("error: libsodium cannot start: the system gives no random numbers\n", stderr);
  std::exit(1);
}

} // namespace cleave
