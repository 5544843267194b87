// See Pieces.h.
#include "runtime/comm/Pieces.h"

#include <algorithm>

namespace cleave::comm {

static size_t aligned(size_t bytes) {
  return (bytes + kPieceAlignment - 1) / kPieceAlignment * kPieceAlignment;
}

std::vector<Segment> PieceCutter::next() {
  std::vector<Segment> segments;
  size_t used = 0;
  while (pair_ < call_.pairs.size()) {
    int64_t count = call_.pairs[pair_].count;
    size_t elementBytes = chunks_ * byteSize(call_.pairs[pair_].dtype);
    int64_t room = used < capacity_ ? (capacity_ - used) / elementBytes : 0;
    if (room < count - begin_)
      room &= ~int64_t(63); // the next segment stays aligned
    int64_t end = std::min(count, begin_ + room);
    if (end == begin_ && begin_ < count)
      break;
    if (end > begin_)
      segments.push_back({pair_, begin_, end, used});
    used += aligned((end - begin_) * elementBytes);
    begin_ = end;
    if (begin_ == count) {
      ++pair_;
      begin_ = 0;
    }
  }
  return segments;
}

size_t packedBytes(const Call &call, int members) {
  size_t bytes = 0;
  for (const BufferPair &pair : call.pairs)
    bytes += aligned(chunksSent(call.kind, members) * pair.count * byteSize(pair.dtype));
  return bytes;
}

std::pair<int64_t, int64_t> partOf(int64_t count, int member, int members) {
  return {count * member / members, count * (member + 1) / members};
}

} // namespace cleave::comm
