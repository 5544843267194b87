// Failure: how reading and importing a model stops at the user's mistake. Thrown and caught inside
// the frontends only; their entries turn it into a Status.
#pragma once

#include "runtime/base/Status.h"

namespace cleave::emit {

// The exception. `status` is the user error or defect that it reports.
struct Failure {
  Status status;
};

// Stops with a user error. The message is the parts one after the other (runtime/base/Concat.h), in
// lower case: found, expected, way out.
template <typename... Parts> [[noreturn]] void fail(const Parts &...message) {
  throw Failure{Status::userError(message...)};
}

} // namespace cleave::emit
