// Division of a collective into pieces that fit into a given memory. It depends on the call alone,
// so it is the same on all members.
#pragma once

#include "runtime/comm/Communicator.h"

#include <cstddef>
#include <vector>

namespace cleave::comm {

constexpr size_t kPieceAlignment = 64; // bytes

// A range of elements of one pair (the same in each of its chunks).
struct Segment {
  size_t pair;
  int64_t begin, end;
  size_t packedAt; // offset in bytes of its consecutive chunks in the packed piece
};

// Yields the pieces of one call.
class PieceCutter {
public:
  // `members`: of the group; `capacity`: bytes per piece. The call outlives the cutter.
  PieceCutter(const Call &call, int members, size_t capacity)
      : call_(call), chunks_(chunksSent(call.kind, members)), capacity_(capacity) {}

  // The segments of the next piece; none after the last. The capacity must hold at least 64
  // elements of every chunk.
  std::vector<Segment> next();

private:
  const Call &call_;
  int64_t chunks_; // that each member sends
  size_t capacity_;
  size_t pair_ = 0;
  int64_t begin_ = 0;
};

// Bytes of all pairs of the call when packed.
size_t packedBytes(const Call &call, int members);

// The part [first, second) of `count` elements that `member` of a group reduces for all.
std::pair<int64_t, int64_t> partOf(int64_t count, int member, int members);

} // namespace cleave::comm
