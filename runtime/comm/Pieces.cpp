#include "runtime/comm/Pieces.h"

#include <algorithm>

namespace cleave::comm {

static size_t aligned(size_t bytes) {
  return (bytes + kPieceAlignment - 1) / kPieceAlignment * kPieceAlignment;
}

int chunksSent(const Call &call, int members) {
  return call.kind == Kind::ReduceScatter || call.kind == Kind::AllToAll ? members : 1;
}

std::vector<Segment> PieceCutter::next() {
  std::vector<Segment> segments;
  size_t used = 0;
  while (pair < call.pairs.size()) {
    int64_t count = call.pairs[pair].count;
    size_t elementBytes = chunks * byteSize(call.pairs[pair].dtype);
    int64_t room = used < capacity ? (capacity - used) / elementBytes : 0;
    if (room < count - begin)
      room &= ~int64_t(63); // the next segment stays aligned
    int64_t end = std::min(count, begin + room);
    if (end == begin && begin < count)
      break;
    if (end > begin)
      segments.push_back({pair, begin, end, used});
    used += aligned((end - begin) * elementBytes);
    begin = end;
    if (begin == count) {
      ++pair;
      begin = 0;
    }
  }
  return segments;
}

size_t packedBytes(const Call &call, int members) {
  size_t bytes = 0;
  for (const BufferPair &pair : call.pairs)
    bytes += aligned(chunksSent(call, members) * pair.count * byteSize(pair.dtype));
  return bytes;
}

std::pair<int64_t, int64_t> partOf(int64_t count, int member, int members) {
  return {count * member / members, count * (member + 1) / members};
}

} // namespace cleave::comm
