// Plan files: a header (magic, format version, payload length), then the Plan of program.proto.
//
// The header identifies plan files and their version before anything is parsed; the length detects
// truncated files; the content hash in the Plan detects damaged ones; a signature beside the file
// detects those of other origin (Signature.h).
#pragma once

#include "runtime/artifact/Signature.h"
#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"

#include <string>
#include <vector>

namespace cleave::artifact {

// Incremented by every change of program.proto that readers of the previous version would misread.
constexpr uint32_t kFormatVersion = 12;

// SHA-256 (hex) of the plan serialised with content_hash empty.
std::string contentHash(const plan::Plan &plan);

// The bytes of the plan's file; sets format_version and content_hash. Equal plans give equal bytes.
// A user error if the plan exceeds 2 GiB, the limit of Protobuf.
Result<std::string> serializePlan(plan::Plan plan);

// The inverse of serializePlan. A user error, which names `path`, if the bytes are not a plan, or a
// plan of another version, truncated or damaged. Does not verify the plan (Verify.h does).
Result<plan::Plan> parsePlan(const std::string &bytes, const std::string &path);

// Writes the plan's file through a temporary file in the same folder: `path` always holds a whole
// plan, the old or the new one. Then writes its signature, if there is a key. A user error if a
// file cannot be written.
Status writePlan(const plan::Plan &plan, const std::string &path, const SigningKey *key = nullptr);

// Reads the file and parses it as parsePlan does. If there are trusted keys, first checks its
// signature (checkSignature).
Result<plan::Plan> readPlan(const std::string &path, const std::vector<PublicKey> &trusted = {});

} // namespace cleave::artifact
