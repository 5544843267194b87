// Send and recv: a message is transferred in parts through two slots per sender and receiver. A
// message in memory that the receiver can address is one part, and the sender waits until it has
// been read.
#include "runtime/comm/local/SharedCommunicator.h"

#include <algorithm>
#include <cstring>

namespace cleave::comm {

Status SharedCommunicator::waitForSlot(MessageSlot &slot, bool full, int peer,
                                       CollectiveKind kind) {
  Waited how = waitUntil(
      slot.full, options_.timeout, [&] { return (slot.full.load() != 0) == full; },
      [&] { return isGone(members()[peer]); });
  return how == Waited::Ready ? Status::ok() : missing(how, peer, kind, options_.timeout);
}

Status SharedCommunicator::sendMessage(const BufferPair &pair, int peer) {
  uint64_t bytes = pair.count * byteSize(pair.dtype);
  const unsigned char *data = static_cast<const unsigned char *>(pair.send);
  uint64_t address = bytes > layout_.slotCapacity() ? offer(data, bytes) : 0;
  uint64_t sent = 0;
  do {
    int parity = partsSent_[peer]++ & 1;
    MessageSlot &slot = layout_.slot(memory_, rank(), peer, parity);
    CLEAVE_TRY(waitForSlot(slot, false, peer, CollectiveKind::Send));
    slot.messageBytes = bytes;
    slot.address = address;
    slot.bytes = address ? bytes : std::min<uint64_t>(bytes - sent, layout_.slotCapacity());
    if (!address && slot.bytes > 0)
      std::memcpy(layout_.slotMemory(memory_, rank(), peer, parity), data + sent, slot.bytes);
    sent += slot.bytes;
    slot.full.store(1);
    wakeAll(slot.full);
    if (address)
      CLEAVE_TRY(waitForSlot(slot, false, peer, CollectiveKind::Send));
  } while (sent < bytes);
  return Status::ok();
}

// Receives the parts of the next message.
Status SharedCommunicator::receiveParts(int peer, unsigned char *destination, uint64_t bytes) {
  uint64_t received = 0;
  do {
    int parity = partsReceived_[peer]++ & 1;
    MessageSlot &slot = layout_.slot(memory_, peer, rank(), parity);
    CLEAVE_TRY(waitForSlot(slot, true, peer, CollectiveKind::Recv));
    const unsigned char *from = layout_.slotMemory(memory_, peer, rank(), parity);
    if (slot.address) {
      CLEAVE_TRY_ASSIGN(from, offered(members()[peer], slot.address));
    }
    if (slot.bytes > 0)
      std::memcpy(destination + received, from, slot.bytes);
    received += slot.bytes;
    slot.full.store(0);
    wakeAll(slot.full);
  } while (received < bytes);
  return Status::ok();
}

Status SharedCommunicator::receiveMessage(const BufferPair &pair, int peer) {
  uint64_t bytes = pair.count * byteSize(pair.dtype);
  MessageSlot &slot = layout_.slot(memory_, peer, rank(), partsReceived_[peer] & 1);
  CLEAVE_TRY(waitForSlot(slot, true, peer, CollectiveKind::Recv));
  if (slot.messageBytes != bytes)
    return Status::defect(describe(peer), " sent ", slot.messageBytes, " bytes to a recv of ",
                          bytes, " bytes");
  return receiveParts(peer, static_cast<unsigned char *>(pair.recv), bytes);
}

} // namespace cleave::comm
