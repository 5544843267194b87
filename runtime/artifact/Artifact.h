// Plan files: a header (magic, format version, payload length), then the Plan of program.proto.
//
// The header identifies plan files and their version before anything is parsed; the length detects
// truncated files; the content hash in the Plan detects damaged ones.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"

#include <string>

namespace cleave::artifact {

// Incremented by every change of program.proto that readers of the previous version would misread.
constexpr uint32_t kFormatVersion = 1;

// SHA-256 (hex) of the plan serialised with content_hash empty.
std::string contentHash(const plan::Plan &plan);

// The bytes of the plan's file; sets format_version and content_hash. Equal plans give equal bytes.
// A user error if the plan exceeds 2 GiB, the limit of Protobuf.
Result<std::string> serializePlan(plan::Plan plan);

// The inverse of serializePlan. A user error, which names `path`, if the bytes are not a plan, or a
// plan of another version, truncated or damaged. Does not verify the plan (Verify.h does).
Result<plan::Plan> parsePlan(const std::string &bytes, const std::string &path);

// Writes the plan's file through a temporary file in the same folder: `path` always holds a whole
// plan, the old or the new one. A user error if it cannot be written.
Status writePlan(const plan::Plan &plan, const std::string &path);

// Reads the file and parses it as parsePlan does.
Result<plan::Plan> readPlan(const std::string &path);

} // namespace cleave::artifact
