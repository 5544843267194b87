// Cutting a collective into pieces that fit into a given memory: the same way on every member,
// since it depends on the call alone.
#pragma once

#include "runtime/comm/Communicator.h"

#include <cstddef>
#include <vector>

namespace cleave::comm {

constexpr size_t kPieceAlignment = 64; // bytes

// Chunks that each member sends: one per member for ReduceScatter and AllToAll, otherwise one.
int chunksSent(const Call &call, int members);

// A range of elements of one pair (the same in each of its chunks).
struct Segment {
  size_t pair;
  int64_t begin, end;
  size_t packedAt; // bytes: where its chunks lie, one after the other, when packed
};

class PieceCutter {
public:
  PieceCutter(const Call &call, int members, size_t capacity)
      : call(call), chunks(chunksSent(call, members)), capacity(capacity) {}

  // The segments of the next piece, none when all is cut. A piece packs into `capacity` bytes,
  // which has room for at least 64 elements of every chunk.
  std::vector<Segment> next();

private:
  const Call &call;
  int chunks;
  size_t capacity;
  size_t pair = 0;
  int64_t begin = 0;
};

// Bytes that all pairs of the call take when packed.
size_t packedBytes(const Call &call, int members);

// The part [first, second) of `count` elements that `member` of a group reduces for all.
std::pair<int64_t, int64_t> partOf(int64_t count, int member, int members);

} // namespace cleave::comm
