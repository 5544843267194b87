// What a rank asks of the store, and the codes of the answers: the messages of a SecureChannel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace cleave::comm {

struct StoreRequest {
  enum Kind : char { Set = 'S', Publish = 'P', Get = 'G' };
  Kind kind = Get;
  std::string key;
  std::string value; // of Set and Publish
};

// The first byte of an answer; the value follows in the answer to Get.
constexpr char kDone = 'D';     // written
constexpr char kValue = 'Y';    // the key's value follows
constexpr char kNoValue = 'N';  // the key was never written
constexpr char kConflict = 'C'; // the key has another value already

// Conversion to and from a message: the kind, the key's length as four bytes (little endian), the
// key, the value. Nothing if a message is not a request, or exceeds the limits of SecureChannel.h.
std::string messageOf(const StoreRequest &request);
std::optional<StoreRequest> requestOf(const std::string &message);

} // namespace cleave::comm
