// Converts between the enumerations of runtime/base and of the plan file, whose numbers are equal;
// the unit test of this file compares every value and name.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Collective.h"
#include "runtime/base/Role.h"

namespace cleave::artifact {

// The kind of a collective of a plan; none if its number is not that of a kind, which the verifier
// refuses.
inline std::optional<CollectiveKind> findKind(const plan::Collective &collective) {
  return collectiveFromNumber(collective.kind());
}

// The kind of a collective of a verified plan.
inline CollectiveKind kindOf(const plan::Collective &collective) {
  return static_cast<CollectiveKind>(collective.kind());
}

// The kind in the file, with the same number.
inline plan::Collective::Kind toFile(CollectiveKind kind) {
  return static_cast<plan::Collective::Kind>(kind);
}

// The role with this number; none if there is none, which the verifier refuses.
inline std::optional<Role> findRole(plan::Role role) { return roleFromNumber(role); }

// The role in the file: a label is an input, the loss a metric.
inline plan::Role toFile(Role role) { return static_cast<plan::Role>(storedAs(role)); }

} // namespace cleave::artifact
