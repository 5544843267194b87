// See StoreRequest.h.
#include "runtime/comm/StoreRequest.h"

#include "runtime/comm/SecureChannel.h"

#include <cstring>

namespace cleave::comm {

static constexpr size_t kKeyAt = 1 + sizeof(uint32_t);

std::string messageOf(const StoreRequest &request) {
  uint32_t length = static_cast<uint32_t>(request.key.size());
  std::string message(1, request.kind);
  message.append(reinterpret_cast<const char *>(&length), sizeof length);
  return message + request.key + request.value;
}

std::optional<StoreRequest> requestOf(const std::string &message) {
  uint32_t length;
  if (message.size() < kKeyAt)
    return std::nullopt;
  char kind = message[0];
  std::memcpy(&length, message.data() + 1, sizeof length);
  bool isKnown =
      kind == StoreRequest::Set || kind == StoreRequest::Publish || kind == StoreRequest::Get;
  if (!isKnown || length > kMaxKeyBytes || length > message.size() - kKeyAt ||
      message.size() - kKeyAt - length > kMaxValueBytes)
    return std::nullopt;
  return StoreRequest{StoreRequest::Kind(kind), message.substr(kKeyAt, length),
                      message.substr(kKeyAt + length)};
}

} // namespace cleave::comm
