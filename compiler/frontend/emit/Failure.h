// Failure: how reading and importing a model stops at the user's mistake. Thrown and caught inside
// the frontends only; their entries turn it into a Status.
#pragma once

#include "runtime/base/Status.h"

namespace cleave::emit {

struct Failure {
  Status status;
};

// Stops with a user's error; the message is lower case: found, expected, way out.
[[noreturn]] inline void fail(std::string message) {
  throw Failure{Status::userError(std::move(message))};
}

} // namespace cleave::emit
