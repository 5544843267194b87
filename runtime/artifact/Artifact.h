// Plan files: a header (magic, format version, payload length), then the Plan of program.proto.
//
// The header tells a plan from another file and from a plan of another version before anything is
// parsed; the length tells a truncated file; the content hash inside the Plan tells a damaged one.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"

#include <string>

namespace cleave::artifact {

// Raised by every change of program.proto that an older reader would misunderstand.
constexpr uint32_t kFormatVersion = 1;

// SHA-256 (hex) of the plan serialised with content_hash empty.
std::string contentHash(const plan::Plan &plan);

// The bytes of the plan's file; format_version and content_hash are set here. Equal plans give
// equal bytes. A user error if the plan exceeds 2 GiB, the most that Protobuf can hold.
Result<std::string> serializePlan(plan::Plan plan);

// The inverse of serializePlan. A user error, naming `path`, for bytes that are no plan, one of
// another version, truncated or damaged. Does not look into the plan: that is Verify.h.
Result<plan::Plan> parsePlan(const std::string &bytes, const std::string &path);

// Writes the plan's file through a temporary one beside it: `path` holds the old or the new plan,
// never a part. A user error if it cannot be written.
Status writePlan(const plan::Plan &plan, const std::string &path);

// Reads the file and parses it as parsePlan does.
Result<plan::Plan> readPlan(const std::string &path);

} // namespace cleave::artifact
