// The shared memory of a group, as plain data that is valid when all bytes are zero: the barriers
// that each member has entered, its postings, and the slots for messages between two members.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cleave::comm {

constexpr size_t kPostedPairs = 128; // pairs per posting; longer calls are split
constexpr size_t kSmallBytes = 4096; // the data of calls up to this size are in the posting
constexpr size_t kCacheLine = 64;    // bytes; members write to different lines

// One member's part of a collective.
struct Posting {
  uint64_t signature; // hash of everything that must be equal on all members
  uint32_t kind;
  uint32_t elements; // of the first pair, for the message when signatures differ
  uint32_t direct;   // whether the other members can use the addresses below
  uint32_t unused;
  struct {
    uint64_t send, recv;
  } addresses[kPostedPairs];
  alignas(kCacheLine) unsigned char small[kSmallBytes];
};

// State of one member.
struct alignas(kCacheLine) MemberBlock {
  std::atomic<uint64_t> arrived;           // number of barriers that the member has entered
  alignas(kCacheLine) Posting postings[2]; // of even and odd collectives
};

// One part of a message in transit; the sender fills it, the receiver empties it.
struct alignas(kCacheLine) MessageSlot {
  std::atomic<uint32_t> full;
  uint64_t messageBytes; // of the whole message
  uint64_t bytes;        // of this part
  uint64_t address;      // of the sender's data; 0: the data are in the slot's own memory
};

// State of the whole group.
struct SharedHeader {
  std::atomic<uint32_t> bell; // counts completed barriers: members sleep on it
};

// The offsets of all parts in the group's memory.
class SharedLayout {
public:
  // `stagingBytes` per member for collectives (two halves), `slotBytes` per message slot.
  SharedLayout(int members, size_t stagingBytes, size_t slotBytes)
      : members_(members), stagingBytes_(stagingBytes), slotBytes_(slotBytes) {}

  // Sizes in bytes: of the group's memory, of half a member's staging memory, of a message slot.
  size_t bytes() const { return slotMemoryAt(members_ * members_ * 2); }
  size_t halfStaging() const { return stagingBytes_ / 2; }
  size_t slotCapacity() const { return slotBytes_; }

  // The parts in the memory that begins at `base`; `parity` selects one of two that are used in
  // turn.
  SharedHeader &header(void *base) const { return *static_cast<SharedHeader *>(base); }
  MemberBlock &member(void *base, int index) const {
    return *reinterpret_cast<MemberBlock *>(at(base, kPage + index * sizeof(MemberBlock)));
  }
  MessageSlot &slot(void *base, int from, int to, int parity) const {
    return *reinterpret_cast<MessageSlot *>(
        at(base, slotsAt() + slotNumber(from, to, parity) * sizeof(MessageSlot)));
  }
  unsigned char *staging(void *base, int index, int parity) const {
    return at(base, stagingAt() + index * stagingBytes_ + parity * halfStaging());
  }
  unsigned char *slotMemory(void *base, int from, int to, int parity) const {
    return at(base, slotMemoryAt(slotNumber(from, to, parity)));
  }

private:
  static constexpr size_t kPage = 4096;
  static size_t pages(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }
  static unsigned char *at(void *base, size_t offset) {
    return static_cast<unsigned char *>(base) + offset;
  }
  size_t slotNumber(int from, int to, int parity) const {
    return (static_cast<size_t>(from) * members_ + to) * 2 + parity;
  }
  size_t slotsAt() const { return kPage + pages(members_ * sizeof(MemberBlock)); }
  size_t stagingAt() const {
    return slotsAt() + pages(2 * sizeof(MessageSlot) * members_ * members_);
  }
  size_t slotMemoryAt(size_t slot) const {
    return stagingAt() + members_ * pages(stagingBytes_) + slot * slotBytes_;
  }

  size_t members_;
  size_t stagingBytes_;
  size_t slotBytes_;
};

} // namespace cleave::comm
