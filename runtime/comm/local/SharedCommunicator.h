// Collectives among ranks that share memory, the same for threads (LocalWorld) and processes
// (ShmWorld).
//
// Every member posts what it brings and comes to a barrier. Then, if all members' buffers can be
// read by the others (direct), each reads them where they lie; otherwise the data go through
// staging memory in pieces that stay in the cache. A reduction is cut into one part per member,
// reduced once and copied by the others. Small calls travel inside the posting itself and cost one
// barrier.
#pragma once

#include "runtime/comm/Communicator.h"
#include "runtime/comm/Pieces.h"
#include "runtime/comm/local/Futex.h"
#include "runtime/comm/local/SharedLayout.h"

#include <list>

namespace cleave::comm {

class SharedCommunicator : public Communicator {
public:
  // Attaches before the first call at the latest.
  SharedCommunicator(std::vector<int> members, int index, const SharedLayout &layout,
                     const Options &options);
  // `memory` holds a layout's bytes, zero before the first member came; it outlives the
  // communicator.
  void attach(void *memory) { this->memory = memory; }

protected:
  Status execute(const Call &call) override;

  // Whether the rank of the job has ended.
  virtual bool isGone(int rank) = 0;
  // An address of this rank's, in a form that offered() of the others understands; 0 if they cannot
  // read it.
  virtual uint64_t offer(const void *address, size_t bytes) = 0;
  // Where this rank finds what `rank` has offered.
  virtual Result<unsigned char *> offered(int rank, uint64_t address) = 0;

private:
  // Where the members' data of one piece of work are found.
  struct Piece {
    const Call &call;
    std::vector<Segment> segments;
    std::vector<unsigned char *> staging;                   // per member; empty: direct
    std::vector<std::vector<unsigned char *>> sends, recvs; // direct: per member and pair
    bool redundant = false;                                 // small: everyone reduces everything
  };

  // SharedCommunicator.cpp
  Status executeBatch(const Call &batch);
  Status post(const Call &batch, bool small);
  Status checkPostings(const Call &batch);
  Status runSmall(const Call &batch);
  Status runDirect(const Call &batch);
  Status runStaged(const Call &batch);
  Status arrive(Kind kind);

  // SharedPieces.cpp
  const unsigned char *source(const Piece &piece, const Segment &segment, int member,
                              int chunk) const;
  void pack(const Piece &piece) const;
  void combine(const Piece &piece) const;
  void reducePart(const Piece &piece, const Segment &segment) const;
  void gatherParts(const Piece &piece) const;

  // SharedMessages.cpp
  Status sendMessage(const BufferPair &pair, int peer, uint32_t tag);
  Status receiveMessage(const BufferPair &pair, int peer, uint32_t tag);
  Status receiveParts(int peer, unsigned char *destination, uint64_t bytes);
  Status waitForSlot(MessageSlot &slot, bool full, int peer, Kind kind);
  Status missing(Waited how, int member, Kind kind, std::chrono::milliseconds waited) const;

  struct Unexpected {
    uint32_t tag;
    std::vector<unsigned char> data;
  };

  SharedLayout layout;
  void *memory = nullptr;
  Options options;
  std::chrono::milliseconds patience{0}; // of the collective that is going on
  uint64_t barriers = 0;                 // that this member has come to
  uint64_t postings = 0;                 // collectives posted
  uint64_t stagedPieces = 0;
  Status broken;                                  // why the group can no longer be used
  std::vector<uint64_t> partsSent, partsReceived; // per peer
  std::vector<std::list<Unexpected>>
      unexpected; // per peer: messages that came before their receive
};

} // namespace cleave::comm
