// Send and recv: a message travels in parts through two slots per sender and receiver. A message
// that the receiver can read where it lies is one part, and the sender waits until it has been
// read.
#include "runtime/comm/local/SharedCommunicator.h"

#include <algorithm>
#include <cstring>

namespace cleave::comm {

Status SharedCommunicator::waitForSlot(MessageSlot &slot, bool full, int peer, Kind kind) {
  Waited how = waitUntil(
      slot.full, options.timeout, [&] { return (slot.full.load() != 0) == full; },
      [&] { return isGone(members()[peer]); });
  return how == Waited::Ready ? Status::ok() : missing(how, peer, kind, options.timeout);
}

Status SharedCommunicator::sendMessage(const BufferPair &pair, int peer, uint32_t tag) {
  uint64_t bytes = pair.count * byteSize(pair.dtype);
  const unsigned char *data = static_cast<const unsigned char *>(pair.send);
  uint64_t address = bytes > layout.slotCapacity() ? offer(data, bytes) : 0;
  uint64_t sent = 0;
  do {
    int parity = partsSent[peer]++ & 1;
    MessageSlot &slot = layout.slot(memory, rank(), peer, parity);
    CLEAVE_TRY(waitForSlot(slot, false, peer, Kind::Send));
    slot.tag = tag;
    slot.messageBytes = bytes;
    slot.address = address;
    slot.bytes = address ? bytes : std::min<uint64_t>(bytes - sent, layout.slotCapacity());
    if (!address && slot.bytes > 0)
      std::memcpy(layout.slotMemory(memory, rank(), peer, parity), data + sent, slot.bytes);
    sent += slot.bytes;
    slot.full.store(1);
    wakeAll(slot.full);
    if (address)
      CLEAVE_TRY(waitForSlot(slot, false, peer, Kind::Send));
  } while (sent < bytes);
  return Status::ok();
}

// Takes the parts of the message whose first part is the next one.
Status SharedCommunicator::receiveParts(int peer, unsigned char *destination, uint64_t bytes) {
  uint64_t received = 0;
  do {
    int parity = partsReceived[peer]++ & 1;
    MessageSlot &slot = layout.slot(memory, peer, rank(), parity);
    CLEAVE_TRY(waitForSlot(slot, true, peer, Kind::Recv));
    const unsigned char *from = layout.slotMemory(memory, peer, rank(), parity);
    if (slot.address) {
      auto found = offered(members()[peer], slot.address);
      CLEAVE_TRY(found.status());
      from = *found;
    }
    if (slot.bytes > 0)
      std::memcpy(destination + received, from, slot.bytes);
    received += slot.bytes;
    slot.full.store(0);
    wakeAll(slot.full);
  } while (received < bytes);
  return Status::ok();
}

static Status wrongSize(const std::string &sender, uint64_t found, uint64_t expected,
                        uint32_t tag) {
  return Status::defect(sender + " sent " + std::to_string(found) + " bytes with tag " +
                        std::to_string(tag) + " to a recv of " + std::to_string(expected) +
                        " bytes");
}

Status SharedCommunicator::receiveMessage(const BufferPair &pair, int peer, uint32_t tag) {
  uint64_t bytes = pair.count * byteSize(pair.dtype);
  unsigned char *destination = static_cast<unsigned char *>(pair.recv);
  std::list<Unexpected> &early = unexpected[peer];
  auto waiting =
      std::find_if(early.begin(), early.end(), [&](const Unexpected &m) { return m.tag == tag; });
  if (waiting != early.end()) {
    Unexpected message = std::move(*waiting);
    early.erase(waiting);
    if (message.data.size() != bytes)
      return wrongSize(describe(peer), message.data.size(), bytes, tag);
    std::copy(message.data.begin(), message.data.end(), destination);
    return Status::ok();
  }
  while (true) {
    MessageSlot &slot = layout.slot(memory, peer, rank(), partsReceived[peer] & 1);
    CLEAVE_TRY(waitForSlot(slot, true, peer, Kind::Recv));
    if (slot.tag == tag && slot.messageBytes != bytes)
      return wrongSize(describe(peer), slot.messageBytes, bytes, tag);
    if (slot.tag == tag)
      return receiveParts(peer, destination, bytes);
    early.push_back({slot.tag, std::vector<unsigned char>(slot.messageBytes)});
    CLEAVE_TRY(receiveParts(peer, early.back().data.data(), early.back().data.size()));
  }
}

} // namespace cleave::comm
