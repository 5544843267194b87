// The sequence of a collective: posting, barriers, and the choice between the three transfers
// (small, direct, staged).
#include "runtime/comm/local/SharedCommunicator.h"

#include <algorithm>

namespace cleave::comm {

SharedCommunicator::SharedCommunicator(std::vector<int> members, int index,
                                       const SharedLayout &layout, const Options &options)
    : Communicator(std::move(members), index), layout_(layout), options_(options),
      partsSent_(size()), partsReceived_(size()) {}

Status SharedCommunicator::execute(const Call &call) {
  if (isPointToPoint(call.kind)) {
    for (const BufferPair &pair : call.pairs)
      CLEAVE_TRY(call.kind == CollectiveKind::Send ? sendMessage(pair, call.peer)
                                                   : receiveMessage(pair, call.peer));
    return Status::ok();
  }
  CLEAVE_TRY(broken_);
  for (size_t first = 0; first < call.pairs.size(); first += kPostedPairs) {
    size_t last = std::min(call.pairs.size(), first + kPostedPairs);
    if (first == 0 && last == call.pairs.size()) {
      broken_ = executeBatch(call);
    } else {
      Call batch = call;
      batch.pairs.assign(call.pairs.begin() + first, call.pairs.begin() + last);
      broken_ = executeBatch(batch);
    }
    CLEAVE_TRY(broken_);
  }
  return Status::ok();
}

Status SharedCommunicator::executeBatch(const Call &batch) {
  if (packedBytes(batch, size()) <= kSmallBytes)
    return runSmall(batch);
  CLEAVE_TRY(post(batch, false));
  CLEAVE_TRY(arrive(batch.kind));
  CLEAVE_TRY(checkPostings(batch));
  bool direct = true;
  for (int member = 0; member < size(); ++member)
    direct &= layout_.member(memory_, member).postings[postings_ & 1].direct != 0;
  Status status = direct ? runDirect(batch) : runStaged(batch);
  ++postings_;
  return status;
}

static uint64_t signatureOf(const Call &batch) {
  uint64_t hash = 0xcbf29ce484222325ull;
  auto mix = [&](uint64_t value) {
    hash = (hash ^ value) * 0x100000001b3ull + 0x9e3779b97f4a7c15ull;
  };
  mix(static_cast<uint64_t>(batch.kind));
  mix(static_cast<uint64_t>(batch.reduce));
  for (int source : batch.sources)
    mix(static_cast<uint64_t>(source));
  for (const BufferPair &pair : batch.pairs) {
    mix(pair.count);
    mix(static_cast<uint64_t>(pair.dtype));
  }
  return hash;
}

Status SharedCommunicator::post(const Call &batch, bool small) {
  Posting &mine = layout_.member(memory_, rank()).postings[postings_ & 1];
  mine.signature = signatureOf(batch);
  mine.kind = static_cast<uint32_t>(batch.kind);
  mine.elements = batch.pairs.empty() ? 0 : static_cast<uint32_t>(batch.pairs[0].count);
  mine.direct = !small;
  for (size_t i = 0; !small && i < batch.pairs.size(); ++i) {
    const BufferPair &pair = batch.pairs[i];
    size_t bytes = pair.count * byteSize(pair.dtype);
    uint64_t send = offer(pair.send, chunksSent(batch.kind, size()) * bytes);
    bool shownRecv = batch.kind == CollectiveKind::AllReduce;
    uint64_t recv = shownRecv ? offer(pair.recv, bytes) : 0;
    mine.addresses[i] = {send, recv};
    if (pair.count > 0 && (!send || (shownRecv && !recv)))
      mine.direct = 0;
  }
  return Status::ok();
}

Status SharedCommunicator::checkPostings(const Call &batch) {
  const Posting &mine = layout_.member(memory_, rank()).postings[postings_ & 1];
  for (int member = 0; member < size(); ++member) {
    const Posting &other = layout_.member(memory_, member).postings[postings_ & 1];
    if (other.signature != mine.signature)
      return Status::defect(describe(member), " calls ",
                            name(static_cast<CollectiveKind>(other.kind)), " of ", other.elements,
                            " elements where ", describe(rank()), " calls ", name(batch.kind),
                            " of ", mine.elements);
  }
  return Status::ok();
}

Status SharedCommunicator::runSmall(const Call &batch) {
  Piece piece{batch};
  piece.redundant = true;
  piece.segments = PieceCutter(batch, size(), kSmallBytes).next();
  for (int member = 0; member < size(); ++member)
    piece.staging.push_back(layout_.member(memory_, member).postings[postings_ & 1].small);
  CLEAVE_TRY(post(batch, true));
  pack(piece);
  CLEAVE_TRY(arrive(batch.kind));
  CLEAVE_TRY(checkPostings(batch));
  combine(piece);
  ++postings_;
  return Status::ok();
}

Status SharedCommunicator::runDirect(const Call &batch) {
  Piece piece{batch};
  piece.sends.resize(size());
  piece.recvs.resize(size());
  for (size_t i = 0; i < batch.pairs.size(); ++i)
    piece.segments.push_back({i, 0, batch.pairs[i].count, 0});
  for (int member = 0; member < size(); ++member) {
    const Posting &posting = layout_.member(memory_, member).postings[postings_ & 1];
    for (size_t i = 0; i < batch.pairs.size(); ++i) {
      CLEAVE_TRY_ASSIGN(auto send, offered(members()[member], posting.addresses[i].send));
      CLEAVE_TRY_ASSIGN(auto recv, offered(members()[member], posting.addresses[i].recv));
      piece.sends[member].push_back(send);
      piece.recvs[member].push_back(recv);
    }
  }
  combine(piece);
  if (batch.kind == CollectiveKind::AllReduce) {
    CLEAVE_TRY(arrive(batch.kind));
    gatherParts(piece);
  }
  return arrive(batch.kind); // buffers must not change while other members read them
}

Status SharedCommunicator::runStaged(const Call &batch) {
  PieceCutter cutter(batch, size(), layout_.halfStaging());
  while (true) {
    Piece piece{batch};
    piece.segments = cutter.next();
    if (piece.segments.empty())
      return Status::ok();
    // Members that are one piece behind may still read the other half.
    for (int member = 0; member < size(); ++member)
      piece.staging.push_back(layout_.staging(memory_, member, stagedPieces_ & 1));
    ++stagedPieces_;
    pack(piece);
    CLEAVE_TRY(arrive(batch.kind));
    combine(piece);
    if (batch.kind == CollectiveKind::AllReduce) {
      CLEAVE_TRY(arrive(batch.kind));
      gatherParts(piece);
    }
  }
}

Status SharedCommunicator::arrive(CollectiveKind kind) {
  std::atomic<uint32_t> &bell = layout_.header(memory_).bell;
  uint64_t wanted = ++barriers_;
  layout_.member(memory_, rank()).arrived.store(wanted);
  int waitsFor = 0;
  auto all = [&] {
    for (; waitsFor < size(); ++waitsFor)
      if (layout_.member(memory_, waitsFor).arrived.load() < wanted)
        return false;
    return true;
  };
  if (all()) { // the last member wakes the others
    bell.fetch_add(1);
    wakeAll(bell);
    return Status::ok();
  }
  Waited how = waitUntil(bell, options_.timeout, all, [&] { return isGone(members()[waitsFor]); });
  return how == Waited::Ready ? Status::ok() : missing(how, waitsFor, kind, options_.timeout);
}

Status SharedCommunicator::missing(Waited how, int member, CollectiveKind kind,
                                   std::chrono::milliseconds waited) const {
  int self = members()[rank()];
  if (how == Waited::Gone)
    return Status::lost(describe(member), " ended while rank ", self, " waited for it in ",
                        name(kind));
  return Status::lost(describe(member), " did not come to ", name(kind), " of rank ", self,
                      " within ", std::chrono::duration<double>(waited).count(), " s");
}

} // namespace cleave::comm
