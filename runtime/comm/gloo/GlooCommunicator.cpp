// See GlooCommunicator.h.
#include "runtime/comm/gloo/GlooCommunicator.h"

#include "runtime/comm/Reduction.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <gloo/common/error.h>
#include <gloo/transport/unbound_buffer.h>

namespace cleave::comm {

constexpr size_t kPieceBytes = 16 << 20; // limits the memory for received parts
constexpr size_t kSmallBytes = 64 << 10; // of all members together: below it latency dominates

GlooCommunicator::GlooCommunicator(std::vector<int> members, int index, uint32_t group,
                                   std::shared_ptr<gloo::Context> context, const Options &options)
    : Communicator(std::move(members), index), group_(group), context_(std::move(context)),
      options_(options), packedOut_(size()), packedIn_(size()) {}

uint64_t GlooCommunicator::messageSlot() const {
  return (uint64_t(group_) << 40) | (uint64_t(1) << 39);
}

uint64_t GlooCommunicator::nextExchangeSlot() { return (uint64_t(group_) << 40) | exchanges_++; }

Status GlooCommunicator::execute(const Call &call) {
  if (isPointToPoint(call.kind)) {
    for (const BufferPair &pair : call.pairs)
      CLEAVE_TRY(passMessage(call, pair));
    return Status::ok();
  }
  if (call.kind == CollectiveKind::AllReduce && packedBytes(call, size()) * size() <= kSmallBytes)
    return broken_ ? broken_ = reduceSmall(call) : broken_;
  PieceCutter cutter(call, size(), kPieceBytes);
  while (true) {
    CLEAVE_TRY(broken_);
    std::vector<Segment> segments = cutter.next();
    if (segments.empty())
      return Status::ok();
    broken_ = reduces(call.kind) ? reducePiece(call, segments) : executePiece(call, segments);
  }
}

// The elements [begin, end) of a chunk of a buffer.
static Fragment fragment(const void *buffer, const BufferPair &pair, int64_t chunk, int64_t begin,
                         int64_t end) {
  int64_t elementBytes = byteSize(pair.dtype);
  auto *bytes = static_cast<unsigned char *>(const_cast<void *>(buffer));
  return {bytes + (chunk * pair.count + begin) * elementBytes,
          static_cast<size_t>((end - begin) * elementBytes)};
}

static void copyFragment(const Fragment &from, const Fragment &to) {
  if (from.data != to.data && from.bytes > 0)
    std::memcpy(to.data, from.data, from.bytes);
}

// AllGather, AllToAll and Permute: exchanges without arithmetic.
Status GlooCommunicator::executePiece(const Call &call, const std::vector<Segment> &segments) {
  Fragments outgoing(size()), incoming(size());
  const bool permutes = call.kind == CollectiveKind::Permute;
  for (const Segment &segment : segments) {
    const BufferPair &pair = call.pairs[segment.pair];
    for (int member = 0; member < size(); ++member) {
      int64_t sent = factsOf(call.kind).sendsChunks ? member : 0;
      Fragment out = fragment(pair.send, pair, sent, segment.begin, segment.end);
      Fragment in = fragment(pair.recv, pair, permutes ? 0 : member, segment.begin, segment.end);
      const bool sends = !permutes || call.sources[member] == rank();
      const bool receives = !permutes || call.sources[rank()] == member;
      if (member == rank() && sends)
        copyFragment(out, in);
      if (member != rank() && sends)
        outgoing[member].push_back(out);
      if (member != rank() && receives)
        incoming[member].push_back(in);
    }
  }
  return exchange(call.kind, outgoing, incoming);
}

// Small AllReduce: every member sends all its data to all others and reduces all of it, which takes
// one exchange instead of two.
Status GlooCommunicator::reduceSmall(const Call &call) {
  size_t total = packedBytes(call, size());
  if (received_.size() < total * size())
    received_.resize(total * size());
  std::vector<Segment> segments = PieceCutter(call, size(), kPieceBytes).next();
  Fragments outgoing(size()), incoming(size());
  for (const Segment &segment : segments) {
    const BufferPair &pair = call.pairs[segment.pair];
    Fragment own = fragment(pair.send, pair, 0, 0, pair.count);
    for (int member = 0; member < size(); ++member) {
      Fragment other{received_.data() + member * total + segment.packedAt, own.bytes};
      if (member == rank()) {
        copyFragment(own, other);
        continue;
      }
      outgoing[member].push_back(own);
      incoming[member].push_back(other);
    }
  }
  CLEAVE_TRY(exchange(call.kind, outgoing, incoming));
  for (const Segment &segment : segments) {
    const BufferPair &pair = call.pairs[segment.pair];
    std::vector<const void *> sources;
    for (int member = 0; member < size(); ++member)
      sources.push_back(received_.data() + member * total + segment.packedAt);
    reduceInOrder(pair.dtype, call.reduce, sources, pair.recv, pair.count);
  }
  return Status::ok();
}

// The part of a segment that a member reduces; of ReduceScatter all elements of its chunk.
std::pair<int64_t, int64_t> GlooCommunicator::reducedBy(const Call &call, const Segment &segment,
                                                        int member) const {
  if (call.kind == CollectiveKind::ReduceScatter)
    return {segment.begin, segment.end};
  auto [begin, end] = partOf(segment.end - segment.begin, member, size());
  return {segment.begin + begin, segment.begin + end};
}

// AllReduce and ReduceScatter: every member receives its part from all, reduces it, and, for
// AllReduce, sends the result to all.
Status GlooCommunicator::reducePiece(const Call &call, const std::vector<Segment> &segments) {
  auto placed = [&](const Segment &segment) { // bytes of this rank's part, rounded up for alignment
    auto [begin, end] = reducedBy(call, segment, rank());
    return ((end - begin) * byteSize(call.pairs[segment.pair].dtype) + 7) / 8 * 8;
  };
  size_t total = 0, at = 0;
  for (const Segment &segment : segments)
    total += placed(segment);
  if (received_.size() < total * size())
    received_.resize(total * size());
  Fragments outgoing(size()), incoming(size());
  std::vector<std::vector<const void *>> sources; // per segment and member
  for (const Segment &segment : segments) {
    const BufferPair &pair = call.pairs[segment.pair];
    std::vector<const void *> &parts = sources.emplace_back();
    auto [ourBegin, ourEnd] = reducedBy(call, segment, rank());
    for (int member = 0; member < size(); ++member) {
      auto [begin, end] = reducedBy(call, segment, member);
      Fragment own =
          fragment(pair.send, pair, factsOf(call.kind).sendsChunks ? member : 0, begin, end);
      Fragment other{received_.data() + member * total + at,
                     static_cast<size_t>((ourEnd - ourBegin) * byteSize(pair.dtype))};
      parts.push_back(member == rank() ? own.data : other.data);
      if (member != rank()) {
        outgoing[member].push_back(own);
        incoming[member].push_back(other);
      }
    }
    at += placed(segment);
  }
  CLEAVE_TRY(exchange(call.kind, outgoing, incoming));
  for (size_t i = 0; i < segments.size(); ++i) {
    const BufferPair &pair = call.pairs[segments[i].pair];
    auto [begin, end] = reducedBy(call, segments[i], rank());
    Fragment target = fragment(pair.recv, pair, 0, begin, end);
    reduceInOrder(pair.dtype, call.reduce, sources[i], target.data, end - begin);
  }
  return call.kind == CollectiveKind::AllReduce ? shareParts(call, segments) : Status::ok();
}

// Every member sends the part it has reduced to all others.
Status GlooCommunicator::shareParts(const Call &call, const std::vector<Segment> &segments) {
  Fragments outgoing(size()), incoming(size());
  for (const Segment &segment : segments) {
    const BufferPair &pair = call.pairs[segment.pair];
    auto [ourBegin, ourEnd] = reducedBy(call, segment, rank());
    for (int member = 0; member < size(); ++member) {
      auto [begin, end] = reducedBy(call, segment, member);
      if (member == rank())
        continue;
      outgoing[member].push_back(fragment(pair.recv, pair, 0, ourBegin, ourEnd));
      incoming[member].push_back(fragment(pair.recv, pair, 0, begin, end));
    }
  }
  return exchange(call.kind, outgoing, incoming);
}

// One contiguous memory for the fragments: a single fragment itself, otherwise `packed`.
static Fragment asMessage(const std::vector<Fragment> &fragments,
                          std::vector<unsigned char> &packed) {
  if (fragments.size() == 1)
    return fragments[0];
  size_t bytes = 0;
  for (const Fragment &fragment : fragments)
    bytes += fragment.bytes;
  if (packed.size() < bytes)
    packed.resize(bytes);
  return {packed.data(), bytes};
}

// Sends to and receives from all members concurrently. Skips members whose list is empty or has no
// bytes. A lost member does not end the exchange with the others: they would miss this rank's data
// and report this rank as the lost one. Returns the first loss.
Status GlooCommunicator::exchange(CollectiveKind kind, const Fragments &outgoing,
                                  const Fragments &incoming) {
  uint64_t slot = nextExchangeSlot();
  std::vector<std::unique_ptr<gloo::transport::UnboundBuffer>> sends(size()), receives(size());
  auto begun = std::chrono::steady_clock::now();
  Status result = Status::ok();
  auto attempt = [&](int member, const std::function<void()> &step) {
    try {
      step();
    } catch (const std::exception &) {
      bool timedOut = std::chrono::steady_clock::now() - begun >= options_.timeout;
      if (result)
        result = missing(member, kind, timedOut, options_.timeout);
      receives[member].reset();
      sends[member].reset();
    }
  };
  for (int i = 1; i < size(); ++i) {
    int member = (rank() + i) % size();
    attempt(member, [&] {
      Fragment in = asMessage(incoming[member], packedIn_[member]);
      if (in.bytes > 0) {
        receives[member] = context_->createUnboundBuffer(in.data, in.bytes);
        receives[member]->recv(members()[member], slot);
      }
      Fragment out = asMessage(outgoing[member], packedOut_[member]);
      if (outgoing[member].size() > 1)
        for (size_t k = 0, at = 0; k < outgoing[member].size(); at += outgoing[member][k++].bytes)
          copyFragment(outgoing[member][k], {out.data + at, outgoing[member][k].bytes});
      if (out.bytes > 0) {
        sends[member] = context_->createUnboundBuffer(out.data, out.bytes);
        sends[member]->send(members()[member], slot);
      }
    });
  }
  for (int member = 0; member < size(); ++member)
    attempt(member, [&] {
      if (receives[member])
        receives[member]->waitRecv(options_.timeout);
      if (receives[member] && incoming[member].size() > 1)
        for (size_t k = 0, at = 0; k < incoming[member].size(); at += incoming[member][k++].bytes)
          copyFragment({packedIn_[member].data() + at, incoming[member][k].bytes},
                       incoming[member][k]);
    });
  for (int member = 0; member < size(); ++member)
    attempt(member, [&] {
      if (sends[member])
        sends[member]->waitSend(options_.timeout);
    });
  return result;
}

Status GlooCommunicator::passMessage(const Call &call, const BufferPair &pair) {
  if (pair.count == 0)
    return Status::ok();
  Fragment data =
      fragment(call.kind == CollectiveKind::Send ? pair.send : pair.recv, pair, 0, 0, pair.count);
  auto begun = std::chrono::steady_clock::now();
  try {
    auto buffer = context_->createUnboundBuffer(data.data, data.bytes);
    uint64_t slot = messageSlot();
    if (call.kind == CollectiveKind::Send) {
      buffer->send(members()[call.peer], slot);
      buffer->waitSend(options_.timeout);
    } else {
      buffer->recv(members()[call.peer], slot);
      buffer->waitRecv(options_.timeout);
    }
  } catch (const std::exception &) {
    bool timedOut = std::chrono::steady_clock::now() - begun >= options_.timeout;
    return missing(call.peer, call.kind, timedOut, options_.timeout);
  }
  return Status::ok();
}

Status GlooCommunicator::missing(int member, CollectiveKind kind, bool timedOut,
                                 std::chrono::milliseconds waited) const {
  int self = members()[rank()];
  if (!timedOut)
    return Status::lost(describe(member), " ended while rank ", self, " waited for it in ",
                        name(kind));
  return Status::lost(describe(member), " did not come to ", name(kind), " of rank ", self,
                      " within ", std::chrono::duration<double>(waited).count(), " s");
}

} // namespace cleave::comm
