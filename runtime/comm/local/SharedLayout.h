// What the members of a group share in memory, as plain data that is valid when all zero: where
// each has arrived, what it offers to the others, and mailboxes for messages between two.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cleave::comm {

constexpr size_t kPostedPairs = 128; // pairs of one posting; longer calls are cut
constexpr size_t kSmallBytes = 4096; // calls up to this size travel inside the posting
constexpr size_t kCacheLine = 64;

// What a member brings to one collective.
struct Posting {
  uint64_t signature; // of everything that has to be equal on all members
  uint32_t kind;
  uint32_t elements; // of the first pair, for the message when signatures differ
  uint32_t direct;   // the buffers' addresses below mean something to the others
  uint32_t unused;
  struct {
    uint64_t send, recv;
  } addresses[kPostedPairs];
  alignas(kCacheLine) unsigned char small[kSmallBytes];
};

struct alignas(kCacheLine) MemberBlock {
  std::atomic<uint64_t> arrived;           // barriers that the member has come to
  alignas(kCacheLine) Posting postings[2]; // of even and odd collectives
};

// One part of a message on its way; the sender fills it, the receiver empties it.
struct alignas(kCacheLine) MessageSlot {
  std::atomic<uint32_t> full;
  uint32_t tag;
  uint64_t messageBytes; // of the whole message
  uint64_t bytes;        // of this part
  uint64_t address;      // where the sender has it; 0: in the slot's own memory
};

struct SharedHeader {
  std::atomic<uint32_t> bell; // counts completed barriers: members sleep on it
};

// Where everything lies in the group's memory.
class SharedLayout {
public:
  // Staging: bytes per member for collectives (two halves), and per message slot.
  SharedLayout(int members, size_t stagingBytes, size_t slotBytes)
      : members(members), stagingBytes(stagingBytes), slotBytes(slotBytes) {}

  size_t bytes() const { return slotMemoryAt(members * members * 2); }
  size_t halfStaging() const { return stagingBytes / 2; }
  size_t slotCapacity() const { return slotBytes; }

  SharedHeader &header(void *base) const { return *static_cast<SharedHeader *>(base); }
  MemberBlock &member(void *base, int index) const {
    return *reinterpret_cast<MemberBlock *>(at(base, kPage + index * sizeof(MemberBlock)));
  }
  MessageSlot &slot(void *base, int from, int to, int parity) const {
    return *reinterpret_cast<MessageSlot *>(
        at(base, slotsAt() + slotNumber(from, to, parity) * sizeof(MessageSlot)));
  }
  unsigned char *staging(void *base, int index, int parity) const {
    return at(base, stagingAt() + index * stagingBytes + parity * halfStaging());
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
    return (static_cast<size_t>(from) * members + to) * 2 + parity;
  }
  size_t slotsAt() const { return kPage + pages(members * sizeof(MemberBlock)); }
  size_t stagingAt() const {
    return slotsAt() + pages(2 * sizeof(MessageSlot) * members * members);
  }
  size_t slotMemoryAt(size_t slot) const {
    return stagingAt() + members * pages(stagingBytes) + slot * slotBytes;
  }

  size_t members;
  size_t stagingBytes;
  size_t slotBytes;
};

} // namespace cleave::comm
