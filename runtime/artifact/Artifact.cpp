// See Artifact.h.
#include "runtime/artifact/Artifact.h"

#include "runtime/base/FileWriter.h"
#include "runtime/base/RegularFile.h"
#include "runtime/base/Sha256.h"

#include <cstring>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>
#include <limits>

namespace cleave::artifact {
namespace {

// The last two bytes detect a transfer in text mode.
constexpr char kMagic[8] = {'C', 'L', 'E', 'A', 'V', 'E', '\r', '\n'};
constexpr size_t kHeaderBytes = 20; // magic, uint32 version, uint64 payload bytes; little endian

void appendLittleEndian(std::string &bytes, uint64_t value, int count) {
  for (int i = 0; i < count; ++i)
    bytes += char(value >> (8 * i));
}

uint64_t readLittleEndian(const std::string &bytes, size_t offset, int count) {
  uint64_t value = 0;
  for (int i = 0; i < count; ++i)
    value |= uint64_t(uint8_t(bytes[offset + i])) << (8 * i);
  return value;
}

// Serialises without dependence on the hashing of map fields.
std::string serializeDeterministically(const plan::Plan &plan) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    plan.SerializeToCodedStream(&coded);
  }
  return bytes;
}

Status checkHeader(const std::string &bytes, const std::string &path) {
  if (bytes.size() < 6 || std::memcmp(bytes.data(), kMagic, 6) != 0)
    return Status::userError("'", path,
                             "' is not a plan file; cleave-compile writes one from a model");
  if (bytes.size() < kHeaderBytes)
    return Status::userError("plan file '", path, "' is truncated: it has ", bytes.size(),
                             " bytes; compile the model again");
  if (std::memcmp(bytes.data(), kMagic, 8) != 0)
    return Status::userError(
        "plan file '", path,
        "' is damaged: its line ends were converted; copy it as a binary file");
  uint64_t version = readLittleEndian(bytes, 8, 4);
  if (version != kFormatVersion)
    return Status::userError("plan file '", path, "' has format version ", version,
                             ", this program reads version ", kFormatVersion,
                             "; compile the model again with this version of cleave-compile");
  uint64_t expected = readLittleEndian(bytes, 12, 8), found = bytes.size() - kHeaderBytes;
  if (found < expected)
    return Status::userError("plan file '", path, "' is truncated: it has ", bytes.size(), " of ",
                             expected + kHeaderBytes, " bytes; copy it or compile the model again");
  if (found > expected)
    return Status::userError("plan file '", path, "' is damaged: ", found - expected,
                             " bytes follow its end; copy it or compile the model again");
  return Status::ok();
}

} // namespace

std::string contentHash(const plan::Plan &plan) {
  plan::Plan unsigned_ = plan;
  unsigned_.clear_content_hash();
  return sha256(serializeDeterministically(unsigned_));
}

Result<std::string> serializePlan(plan::Plan plan) {
  plan.set_format_version(kFormatVersion);
  plan.clear_content_hash();
  if (plan.ByteSizeLong() > size_t(std::numeric_limits<int32_t>::max()) - 128)
    return Status::userError(
        "the plan takes ", plan.ByteSizeLong(),
        " bytes, a plan file holds 2 GiB at most; constants of that size belong "
        "into the model's external data");
  plan.set_content_hash(sha256(serializeDeterministically(plan)));
  std::string payload = serializeDeterministically(plan);
  std::string bytes(kMagic, sizeof kMagic);
  appendLittleEndian(bytes, kFormatVersion, 4);
  appendLittleEndian(bytes, payload.size(), 8);
  return bytes + payload;
}

Result<plan::Plan> parsePlan(const std::string &bytes, const std::string &path) {
  CLEAVE_TRY(checkHeader(bytes, path));
  plan::Plan plan;
  google::protobuf::LogSilencer silence; // the message below suffices
  bool parsed = plan.ParseFromArray(bytes.data() + kHeaderBytes, int(bytes.size() - kHeaderBytes));
  if (!parsed || plan.content_hash() != contentHash(plan) ||
      plan.format_version() != kFormatVersion)
    return Status::userError("plan file '", path, "' is damaged: its content does not match its ",
                             "hash; copy it or compile the model again");
  return plan;
}

Status writePlan(const plan::Plan &plan, const std::string &path, const SigningKey *key) {
  CLEAVE_TRY_ASSIGN(std::string bytes, serializePlan(plan));
  CLEAVE_TRY(writeFile(path, bytes));
  return key ? writeFile(signaturePath(path), key->sign(bytes)) : Status::ok();
}

Result<plan::Plan> readPlan(const std::string &path, const std::vector<PublicKey> &trusted) {
  CLEAVE_TRY_ASSIGN(std::string bytes, readRegularFile(path).withContext("plan file"));
  if (!trusted.empty())
    CLEAVE_TRY(checkSignature(bytes, path, trusted));
  return parsePlan(bytes, path);
}

} // namespace cleave::artifact
