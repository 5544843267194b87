// See StoreClient.h.
#include "runtime/comm/StoreClient.h"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <unistd.h>

namespace cleave::comm {

// The answers that wait for a client. A rank has one request under way, so at most one.
static constexpr size_t kMaxOutputBytes = 2 * kMaxMessageBytes;

StoreClient::StoreClient(int descriptor, const JobSecret &secret, int size)
    : descriptor_(descriptor), handshake_(secret, size) {}

StoreClient::~StoreClient() { close(descriptor_); }

bool StoreClient::read(StoredValues &values) {
  char data[65536];
  ssize_t bytes = recv(descriptor_, data, sizeof data, 0);
  if (bytes <= 0)
    return bytes < 0 && (errno == EINTR || errno == EAGAIN);
  if (state_ == Refused) // until it closes the connection
    return true;
  input_.append(data, static_cast<size_t>(bytes));
  return takeHandshake() && takeRequests(values) && write();
}

bool StoreClient::write() {
  while (!output_.empty()) {
    ssize_t bytes = ::send(descriptor_, output_.data(), output_.size(), MSG_NOSIGNAL);
    if (bytes < 0 && errno == EINTR)
      continue;
    if (bytes < 0 && errno == EAGAIN)
      break;
    if (bytes <= 0)
      return false;
    output_.erase(0, static_cast<size_t>(bytes));
  }
  return output_.size() <= kMaxOutputBytes;
}

bool StoreClient::takeHandshake() {
  if (state_ == Hello && input_.size() >= kHelloBytes) {
    std::optional<std::string> challenge = handshake_.challenge(input_.substr(0, kHelloBytes));
    if (!challenge)
      return false;
    input_.erase(0, kHelloBytes);
    output_ += *challenge;
    state_ = Proof;
  }
  if (state_ == Proof && input_.size() >= kProofBytes) {
    output_ += handshake_.verdict(input_.substr(0, kProofBytes));
    input_.erase(0, kProofBytes);
    channel_ = handshake_.channel();
    state_ = channel_ ? Open : Refused;
  }
  return true;
}

bool StoreClient::takeRequests(StoredValues &values) {
  uint32_t length;
  while (state_ == Open && input_.size() >= sizeof length) {
    std::memcpy(&length, input_.data(), sizeof length);
    if (length > kMaxMessageBytes + kFrameSealBytes)
      return false;
    if (input_.size() < sizeof length + length)
      break;
    std::optional<std::string> message = channel_->open(input_.substr(sizeof length, length));
    std::optional<StoreRequest> request = message ? requestOf(*message) : std::nullopt;
    if (!request)
      return false;
    input_.erase(0, sizeof length + length);
    output_ += channel_->seal(answer(*request, values));
    if (output_.size() > kMaxOutputBytes && !write())
      return false; // the client has not taken the answers before this one
  }
  return true;
}

std::string StoreClient::answer(const StoreRequest &request, StoredValues &values) const {
  auto found = values.find(request.key);
  if (request.kind == StoreRequest::Get)
    return found == values.end() ? std::string(1, kNoValue) : kValue + found->second.value;
  bool publishes = request.kind == StoreRequest::Publish;
  if (found != values.end()) {
    bool mayOverwrite = publishes && found->second.isPublished;
    if (!mayOverwrite && found->second.value != request.value)
      return std::string(1, kConflict);
  }
  values[request.key] = {request.value, publishes};
  return std::string(1, kDone);
}

} // namespace cleave::comm
