// The order of things in a collective: posting, barriers, and which of the three ways the data
// take.
#include "runtime/comm/local/SharedCommunicator.h"

#include <algorithm>

namespace cleave::comm {

SharedCommunicator::SharedCommunicator(std::vector<int> members, int index,
                                       const SharedLayout &layout, const Options &options)
    : Communicator(std::move(members), index), layout(layout), options(options), partsSent(size()),
      partsReceived(size()), unexpected(size()) {}

Status SharedCommunicator::execute(const Call &call) {
  if (call.kind == Kind::Send || call.kind == Kind::Recv) {
    for (const BufferPair &pair : call.pairs)
      CLEAVE_TRY(call.kind == Kind::Send ? sendMessage(pair, call.peer, call.tag)
                                         : receiveMessage(pair, call.peer, call.tag));
    return Status::ok();
  }
  CLEAVE_TRY(broken);
  patience = call.timeout.count() > 0 ? call.timeout : options.timeout;
  for (size_t first = 0; first < call.pairs.size(); first += kPostedPairs) {
    size_t last = std::min(call.pairs.size(), first + kPostedPairs);
    if (first == 0 && last == call.pairs.size()) {
      broken = executeBatch(call);
    } else {
      Call batch = call;
      batch.pairs.assign(call.pairs.begin() + first, call.pairs.begin() + last);
      broken = executeBatch(batch);
    }
    CLEAVE_TRY(broken);
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
    direct &= layout.member(memory, member).postings[postings & 1].direct != 0;
  Status status = direct ? runDirect(batch) : runStaged(batch);
  ++postings;
  return status;
}

static uint64_t signatureOf(const Call &batch) {
  uint64_t hash = 0xcbf29ce484222325ull;
  auto mix = [&](uint64_t value) {
    hash = (hash ^ value) * 0x100000001b3ull + 0x9e3779b97f4a7c15ull;
  };
  mix(static_cast<uint64_t>(batch.kind));
  mix(static_cast<uint64_t>(batch.reduce));
  mix(batch.root);
  for (const BufferPair &pair : batch.pairs) {
    mix(pair.count);
    mix(static_cast<uint64_t>(pair.dtype));
  }
  return hash;
}

Status SharedCommunicator::post(const Call &batch, bool small) {
  Posting &mine = layout.member(memory, rank()).postings[postings & 1];
  mine.signature = signatureOf(batch);
  mine.kind = static_cast<uint32_t>(batch.kind);
  mine.elements = batch.pairs.empty() ? 0 : static_cast<uint32_t>(batch.pairs[0].count);
  mine.direct = !small;
  for (size_t i = 0; !small && i < batch.pairs.size(); ++i) {
    const BufferPair &pair = batch.pairs[i];
    size_t bytes = pair.count * byteSize(pair.dtype);
    bool reads = batch.kind != Kind::Broadcast || batch.root == rank();
    uint64_t send = reads ? offer(pair.send, chunksSent(batch, size()) * bytes) : 0;
    bool shownRecv = batch.kind == Kind::AllReduce;
    uint64_t recv = shownRecv ? offer(pair.recv, bytes) : 0;
    mine.addresses[i] = {send, recv};
    if (pair.count > 0 && ((reads && !send) || (shownRecv && !recv)))
      mine.direct = 0;
  }
  return Status::ok();
}

Status SharedCommunicator::checkPostings(const Call &batch) {
  const Posting &mine = layout.member(memory, rank()).postings[postings & 1];
  for (int member = 0; member < size(); ++member) {
    const Posting &other = layout.member(memory, member).postings[postings & 1];
    if (other.signature != mine.signature)
      return Status::defect(
          describe(member) + " calls " + std::string(name(static_cast<Kind>(other.kind))) + " of " +
          std::to_string(other.elements) + " elements where " + describe(rank()) + " calls " +
          std::string(name(batch.kind)) + " of " + std::to_string(mine.elements));
  }
  return Status::ok();
}

Status SharedCommunicator::runSmall(const Call &batch) {
  Piece piece{batch};
  piece.redundant = true;
  piece.segments = PieceCutter(batch, size(), kSmallBytes).next();
  for (int member = 0; member < size(); ++member)
    piece.staging.push_back(layout.member(memory, member).postings[postings & 1].small);
  CLEAVE_TRY(post(batch, true));
  pack(piece);
  CLEAVE_TRY(arrive(batch.kind));
  CLEAVE_TRY(checkPostings(batch));
  combine(piece);
  ++postings;
  return Status::ok();
}

Status SharedCommunicator::runDirect(const Call &batch) {
  Piece piece{batch};
  piece.sends.resize(size());
  piece.recvs.resize(size());
  for (size_t i = 0; i < batch.pairs.size(); ++i)
    piece.segments.push_back({i, 0, batch.pairs[i].count, 0});
  for (int member = 0; member < size(); ++member) {
    const Posting &posting = layout.member(memory, member).postings[postings & 1];
    for (size_t i = 0; i < batch.pairs.size(); ++i) {
      auto send = offered(members()[member], posting.addresses[i].send);
      CLEAVE_TRY(send.status());
      auto recv = offered(members()[member], posting.addresses[i].recv);
      CLEAVE_TRY(recv.status());
      piece.sends[member].push_back(*send);
      piece.recvs[member].push_back(*recv);
    }
  }
  combine(piece);
  if (batch.kind == Kind::AllReduce) {
    CLEAVE_TRY(arrive(batch.kind));
    gatherParts(piece);
  }
  return arrive(batch.kind); // nobody changes its buffers while others read them
}

Status SharedCommunicator::runStaged(const Call &batch) {
  PieceCutter cutter(batch, size(), layout.halfStaging());
  while (true) {
    Piece piece{batch};
    piece.segments = cutter.next();
    if (piece.segments.empty())
      return Status::ok();
    // The other half may still be read by members that are one piece behind.
    for (int member = 0; member < size(); ++member)
      piece.staging.push_back(layout.staging(memory, member, stagedPieces & 1));
    ++stagedPieces;
    pack(piece);
    CLEAVE_TRY(arrive(batch.kind));
    combine(piece);
    if (batch.kind == Kind::AllReduce) {
      CLEAVE_TRY(arrive(batch.kind));
      gatherParts(piece);
    }
  }
}

Status SharedCommunicator::arrive(Kind kind) {
  std::atomic<uint32_t> &bell = layout.header(memory).bell;
  uint64_t wanted = ++barriers;
  layout.member(memory, rank()).arrived.store(wanted);
  int waitsFor = 0;
  auto all = [&] {
    for (; waitsFor < size(); ++waitsFor)
      if (layout.member(memory, waitsFor).arrived.load() < wanted)
        return false;
    return true;
  };
  if (all()) { // the last one wakes the others
    bell.fetch_add(1);
    wakeAll(bell);
    return Status::ok();
  }
  Waited how = waitUntil(bell, patience, all, [&] { return isGone(members()[waitsFor]); });
  return how == Waited::Ready ? Status::ok() : missing(how, waitsFor, kind, patience);
}

Status SharedCommunicator::missing(Waited how, int member, Kind kind,
                                   std::chrono::milliseconds waited) const {
  std::string call(name(kind));
  if (how == Waited::Gone)
    return Status::lost(describe(member) + " ended while rank " +
                        std::to_string(members()[rank()]) + " waited for it in " + call);
  double seconds = std::chrono::duration<double>(waited).count();
  char limit[32];
  snprintf(limit, sizeof limit, "%g", seconds);
  return Status::lost(describe(member) + " did not come to " + call + " of rank " +
                      std::to_string(members()[rank()]) + " within " + limit + " s");
}

} // namespace cleave::comm
