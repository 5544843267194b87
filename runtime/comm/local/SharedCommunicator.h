// Collectives among ranks that share memory, the same for threads (LocalWorld) and processes
// (ShmWorld).
//
// Every member posts its buffers and enters a barrier. If all members can address the buffers of
// all others (direct), they read them in place; otherwise the data go through staging memory, in
// pieces that fit into the cache (staged). A reduction is divided into one part per member, which
// that member reduces and the others copy. The data of small calls are part of the posting, which
// costs one barrier.
#pragma once

#include "runtime/comm/Communicator.h"
#include "runtime/comm/Pieces.h"
#include "runtime/comm/local/Futex.h"
#include "runtime/comm/local/SharedLayout.h"

namespace cleave::comm {

class SharedCommunicator : public Communicator {
public:
  // attach() must precede the first call.
  SharedCommunicator(std::vector<int> members, int index, const SharedLayout &layout,
                     const Options &options);
  // `memory` has layout.bytes() bytes, zero before the first member attached; it outlives the
  // communicator.
  void attach(void *memory) { memory_ = memory; }

protected:
  Status execute(const Call &call) override;

  // Whether the rank of the job has ended.
  virtual bool isGone(int rank) = 0;
  // An address of this rank in a form that offered() of other ranks accepts; 0 if they cannot
  // address it.
  virtual uint64_t offer(const void *address, size_t bytes) = 0;
  // This rank's address of the memory that `rank` has offered.
  virtual Result<unsigned char *> offered(int rank, uint64_t address) = 0;

private:
  // One piece of a call and the addresses of all members' data.
  struct Piece {
    const Call &call;
    std::vector<Segment> segments;
    std::vector<unsigned char *> staging;                   // per member; empty: direct
    std::vector<std::vector<unsigned char *>> sends, recvs; // direct: per member and pair
    bool redundant = false; // small: every member reduces all elements
  };

  // SharedCommunicator.cpp
  Status executeBatch(const Call &batch);
  Status post(const Call &batch, bool small);
  Status checkPostings(const Call &batch);
  Status runSmall(const Call &batch);
  Status runDirect(const Call &batch);
  Status runStaged(const Call &batch);
  Status arrive(CollectiveKind kind);

  // SharedPieces.cpp
  const unsigned char *source(const Piece &piece, const Segment &segment, int member,
                              int chunk) const;
  void pack(const Piece &piece) const;
  void combine(const Piece &piece) const;
  void reducePart(const Piece &piece, const Segment &segment) const;
  void gatherParts(const Piece &piece) const;

  // SharedMessages.cpp
  Status sendMessage(const BufferPair &pair, int peer);
  Status receiveMessage(const BufferPair &pair, int peer);
  Status receiveParts(int peer, unsigned char *destination, uint64_t bytes);
  Status waitForSlot(MessageSlot &slot, bool full, int peer, CollectiveKind kind);
  Status missing(Waited how, int member, CollectiveKind kind,
                 std::chrono::milliseconds waited) const;

  SharedLayout layout_;
  void *memory_ = nullptr;
  Options options_;
  uint64_t barriers_ = 0; // entered by this member
  uint64_t postings_ = 0; // collectives posted
  uint64_t stagedPieces_ = 0;
  Status broken_;                                   // the failure that made the group unusable
  std::vector<uint64_t> partsSent_, partsReceived_; // per peer
};

} // namespace cleave::comm
