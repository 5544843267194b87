// The transfers within one piece of a collective: packing into staging memory, reducing, copying.
#include "runtime/comm/Reduction.h"
#include "runtime/comm/local/SharedCommunicator.h"

#include <algorithm>
#include <cstring>

namespace cleave::comm {

// The address of the segment's elements in one chunk of a member's data.
const unsigned char *SharedCommunicator::source(const Piece &piece, const Segment &segment,
                                                int member, int chunk) const {
  const BufferPair &pair = piece.call.pairs[segment.pair];
  int64_t elementBytes = byteSize(pair.dtype);
  if (piece.staging.empty())
    return piece.sends[member][segment.pair] + (chunk * pair.count + segment.begin) * elementBytes;
  return piece.staging[member] + segment.packedAt +
         chunk * (segment.end - segment.begin) * elementBytes;
}

void SharedCommunicator::pack(const Piece &piece) const {
  for (const Segment &segment : piece.segments) {
    const BufferPair &pair = piece.call.pairs[segment.pair];
    int64_t elementBytes = byteSize(pair.dtype),
            bytes = (segment.end - segment.begin) * elementBytes;
    const unsigned char *from = static_cast<const unsigned char *>(pair.send);
    unsigned char *to = piece.staging[rank()] + segment.packedAt;
    for (int chunk = 0; chunk < chunksSent(piece.call.kind, size()); ++chunk)
      std::memcpy(to + chunk * bytes, from + (chunk * pair.count + segment.begin) * elementBytes,
                  bytes);
  }
}

void SharedCommunicator::combine(const Piece &piece) const {
  for (const Segment &segment : piece.segments) {
    const BufferPair &pair = piece.call.pairs[segment.pair];
    int64_t elementBytes = byteSize(pair.dtype),
            bytes = (segment.end - segment.begin) * elementBytes;
    unsigned char *recv = static_cast<unsigned char *>(pair.recv);
    auto copy = [&](int member, int chunk, int64_t element) {
      const unsigned char *from = source(piece, segment, member, chunk);
      unsigned char *to = recv + element * elementBytes;
      if (from != to && bytes > 0)
        std::memcpy(to, from, bytes);
    };
    // Each member begins with its own data, so that not all members read the same memory at once.
    switch (piece.call.kind) {
    case CollectiveKind::AllGather:
      for (int i = 0; i < size(); ++i) {
        int member = (rank() + i) % size();
        copy(member, 0, member * pair.count + segment.begin);
      }
      break;
    case CollectiveKind::AllToAll:
      for (int i = 0; i < size(); ++i) {
        int member = (rank() + i) % size();
        copy(member, rank(), member * pair.count + segment.begin);
      }
      break;
    case CollectiveKind::Permute:
      copy(piece.call.sources[rank()], 0, segment.begin);
      break;
    default:
      reducePart(piece, segment);
    }
  }
}

void SharedCommunicator::reducePart(const Piece &piece, const Segment &segment) const {
  const BufferPair &pair = piece.call.pairs[segment.pair];
  int64_t elementBytes = byteSize(pair.dtype), count = segment.end - segment.begin;
  bool whole = piece.call.kind == CollectiveKind::ReduceScatter || piece.redundant;
  auto [begin, end] = whole ? std::pair<int64_t, int64_t>{0, count} : partOf(count, rank(), size());
  int chunk = piece.call.kind == CollectiveKind::ReduceScatter ? rank() : 0;
  std::vector<const void *> sources;
  for (int member = 0; member < size(); ++member)
    sources.push_back(source(piece, segment, member, chunk) + begin * elementBytes);
  unsigned char *target = static_cast<unsigned char *>(pair.recv) + segment.begin * elementBytes;
  if (!whole && !piece.staging.empty()) // the other members copy the result from here
    target = piece.staging[rank()] + segment.packedAt;
  reduceInOrder(pair.dtype, piece.call.reduce, sources, target + begin * elementBytes, end - begin);
}

void SharedCommunicator::gatherParts(const Piece &piece) const {
  for (const Segment &segment : piece.segments) {
    const BufferPair &pair = piece.call.pairs[segment.pair];
    int64_t elementBytes = byteSize(pair.dtype);
    unsigned char *recv = static_cast<unsigned char *>(pair.recv) + segment.begin * elementBytes;
    for (int i = 0; i < size(); ++i) {
      int member = (rank() + i) % size();
      auto [begin, end] = partOf(segment.end - segment.begin, member, size());
      const unsigned char *from =
          piece.staging.empty() ? piece.recvs[member][segment.pair] + segment.begin * elementBytes
                                : piece.staging[member] + segment.packedAt;
      if (from != recv && end > begin)
        std::memcpy(recv + begin * elementBytes, from + begin * elementBytes,
                    (end - begin) * elementBytes);
    }
  }
}

} // namespace cleave::comm
