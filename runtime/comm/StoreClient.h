// The server's side of one connection to the store. Never waits for the client. Private to this
// folder.
#pragma once

#include "runtime/comm/SecureChannel.h"
#include "runtime/comm/StoreRequest.h"

#include <chrono>
#include <map>
#include <string>

namespace cleave::comm {

// A key's value in the store.
struct StoredValue {
  std::string value;
  bool isPublished = false; // may be overwritten
};
using StoredValues = std::map<std::string, StoredValue>;

class StoreClient {
public:
  using Clock = std::chrono::steady_clock;

  // Owns `descriptor`, a non-blocking socket.
  StoreClient(int descriptor, const JobSecret &secret, int size);
  ~StoreClient();
  StoreClient(const StoreClient &) = delete;

  int descriptor() const { return descriptor_; }
  // Whether the client has proven that it belongs to the job.
  bool isMember() const { return handshake_.channel().has_value(); }
  bool hasOutput() const { return !output_.empty(); } // that the client has not taken yet
  Clock::time_point accepted() const { return accepted_; }

  // Receives what has come and answers whole requests. False, here and below, if the connection is
  // to be closed: the client is gone, broke the protocol, or does not take its answers.
  bool read(StoredValues &values);
  // Sends as much output as the client takes now.
  bool write();

private:
  bool takeHandshake();
  bool takeRequests(StoredValues &values);
  std::string answer(const StoreRequest &request, StoredValues &values) const;

  int descriptor_;
  ServerHandshake handshake_;
  std::optional<SecureChannel> channel_; // open
  enum { Hello, Proof, Open, Refused } state_ = Hello;
  std::string input_;  // not yet a whole message
  std::string output_; // not yet sent
  Clock::time_point accepted_ = Clock::now();
};

} // namespace cleave::comm
