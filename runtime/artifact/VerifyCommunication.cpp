// The communication rule: simulates the schedules of all ranks at once. On each rank, the calls of
// one group wait in a queue (sends and receives in one queue per peer and direction); the rank
// waits for each call. A collective completes when it is at the head of the queues of all members,
// a send when its recv is at the head of the peer's queue. If no rank can continue, there is a
// deadlock. Runs on several queues of a device are then free of it, too: the simulated run is an
// order of all calls of all ranks, and calls of a queue follow each other in this order (the queue
// rule), wait for earlier ones only, and meet the same calls. If all ranks run one program
// without sends and receives, no simulation is needed: all ranks start the same calls in the same
// order. See Verify.h.
#include "runtime/artifact/Access.h"
#include "runtime/artifact/Enums.h"
#include "runtime/artifact/Mesh.h"
#include "runtime/artifact/Programs.h"
#include "runtime/artifact/VerifyRules.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tuple>

namespace cleave::artifact {
namespace {

// Calls that can match have the same channel: the group, and for sends and receives the two ranks
// (for collectives both -1).
struct Channel {
  const std::vector<uint32_t> *group;
  int64_t sender = -1, receiver = -1;
  auto key() const { return std::tuple(*group, sender, receiver); }
  bool operator<(const Channel &other) const { return key() < other.key(); }
};

// A collective in a rank's schedule.
struct ScheduledCall {
  const plan::Collective *what;
  int segment, instruction;
};

// A started call.
struct PendingCall {
  const plan::Collective *what;
  uint32_t rank;
  int segment, instruction;
  bool done = false;
};

class CommunicationCheck {
public:
  // Checks the programs of one kind. Each rank has one of them.
  CommunicationCheck(const plan::Plan &plan, plan::Program::Kind kind)
      : plan_(plan), ranks_(rankCount(plan)) {
    for (const plan::Program &program : plan.programs())
      if (program.kind() == kind)
        for (uint32_t rank : program.ranks())
          collect(rank, program);
  }

  Status run() {
    for (uint32_t rank = 0; rank < ranks_.size(); ++rank)
      CLEAVE_TRY(advance(rank));
    while (!touched_.empty()) {
      Channel channel = *touched_.begin();
      touched_.erase(touched_.begin());
      CLEAVE_TRY(meet(channel));
    }
    for (uint32_t rank = 0; rank < ranks_.size(); ++rank)
      if (ranks_[rank].next < ranks_[rank].steps.size() || ranks_[rank].blocked)
        return stuck(rank);
    return Status::ok();
  }

private:
  struct RankState {
    const plan::Program *program = nullptr;
    std::vector<ScheduledCall> steps;
    size_t next = 0;                // index in steps
    PendingCall *blocked = nullptr; // the call for which the rank waits; null: none
  };
  using Queues = std::map<uint32_t, std::deque<PendingCall *>>; // by rank

  void collect(uint32_t rank, const plan::Program &program) {
    ranks_[rank].program = &program;
    for (const plan::ScheduleStep &step : program.schedule()) {
      const plan::Segment &segment = program.segments(step.segment());
      for (int i = 0; i < segment.instructions_size(); ++i) {
        const plan::Instruction &instruction = segment.instructions(i);
        if (instruction.has_collective())
          ranks_[rank].steps.push_back({&instruction.collective(), int(step.segment()), i});
      }
    }
  }

  Channel channelOf(const plan::Collective &what, uint32_t rank) {
    std::vector<uint32_t> axes(what.axes().begin(), what.axes().end());
    Channel channel{&*groups_.insert(groupOf(plan_, rank, axes)).first};
    uint32_t peer = (*channel.group)[what.peer()];
    if (kindOf(what) == CollectiveKind::Send)
      channel.sender = rank, channel.receiver = peer;
    if (kindOf(what) == CollectiveKind::Recv)
      channel.sender = peer, channel.receiver = rank;
    return channel;
  }

  // Advances a rank until it has to wait.
  Status advance(uint32_t rank) {
    RankState &state = ranks_[rank];
    while (!(state.blocked && !state.blocked->done) && state.next < state.steps.size()) {
      const ScheduledCall &step = state.steps[state.next++];
      Channel channel = channelOf(*step.what, rank);
      if (channel.sender >= 0 && channel.sender == channel.receiver)
        return Status::defect(place(rank, step.segment, step.instruction),
                              " has its own rank as its peer");
      calls_.push_back({step.what, rank, step.segment, step.instruction});
      channels_[channel][rank].push_back(&calls_.back());
      touched_.insert(channel);
      state.blocked = &calls_.back();
    }
    if (state.blocked && state.blocked->done)
      state.blocked = nullptr;
    return Status::ok();
  }

  // Completes the calls at the heads of all queues of the channel, until one queue is empty.
  Status meet(const Channel &channel) {
    std::vector<uint32_t> members = *channel.group;
    if (channel.sender >= 0)
      members = {uint32_t(channel.sender), uint32_t(channel.receiver)};
    Queues &queues = channels_[channel];
    while (true) {
      for (uint32_t member : members)
        if (queues[member].empty())
          return Status::ok();
      for (uint32_t member : members)
        CLEAVE_TRY(compare(*queues[members[0]].front(), *queues[member].front()));
      for (uint32_t member : members) {
        queues[member].front()->done = true;
        queues[member].pop_front();
      }
      for (uint32_t member : members)
        CLEAVE_TRY(advance(member));
    }
  }

  // Checks that two calls at the heads of their queues agree. For a send and its recv, the send is
  // `a`.
  Status compare(const PendingCall &a, const PendingCall &b) const {
    if (&a == &b)
      return Status::ok();
    bool pair = kindOf(*a.what) == CollectiveKind::Send;
    const auto &left = a.what->send(), &right = pair ? b.what->recv() : b.what->send();
    std::string difference;
    if (!pair && a.what->kind() != b.what->kind())
      difference = "their kinds differ";
    else if (a.what->reduce() != b.what->reduce())
      difference = "their reductions differ";
    else if (!std::ranges::equal(a.what->to_axes(), b.what->to_axes()) ||
             a.what->reversed() != b.what->reversed())
      difference = "they permute to different axes";
    else if (left.size() != right.size())
      difference = concat("they move ", left.size(), " and ", right.size(), " buffers");
    for (int i = 0; difference.empty() && i < left.size(); ++i) {
      const plan::Buffer &mine = buffer(a.rank, left[i]), &theirs = buffer(b.rank, right[i]);
      if (mine.dtype() != theirs.dtype() ||
          elementCount(mine.shape()) != elementCount(theirs.shape()))
        difference = "buffers '" + mine.name() + "' and '" + theirs.name() + "' differ in size";
    }
    return difference.empty()
               ? Status::ok()
               : Status::defect(place(a), " does not match ", place(b), ": ", difference);
  }

  // The deadlock of `rank`, with a rank for which it waits: one whose queue of the call's channel
  // is empty.
  Status stuck(uint32_t rank) {
    const PendingCall &call = *ranks_[rank].blocked;
    Channel channel = channelOf(*call.what, rank);
    std::vector<uint32_t> members = *channel.group;
    if (channel.sender >= 0)
      members = {uint32_t(channel.sender), uint32_t(channel.receiver)};
    for (uint32_t member : members) {
      if (!channels_[channel][member].empty())
        continue;
      const PendingCall *other = ranks_[member].blocked;
      return Status::defect("deadlock: ", place(call), " waits forever for ",
                            other ? place(*other)
                                  : concat("rank ", member, ", which has ended its step"));
    }
    return Status::defect("deadlock: ", place(call), " waits forever");
  }

  const plan::Buffer &buffer(uint32_t rank, uint32_t index) const {
    return ranks_[rank].program->buffers(int(index));
  }
  std::string place(uint32_t rank, int segment, int instruction) const {
    ProgramView view{plan_, *ranks_[rank].program, rank};
    return view.instruction(segment, instruction);
  }
  std::string place(const PendingCall &call) const {
    return place(call.rank, call.segment, call.instruction);
  }

  const plan::Plan &plan_;
  std::vector<RankState> ranks_;
  std::deque<PendingCall> calls_;
  std::set<std::vector<uint32_t>> groups_;
  std::map<Channel, Queues> channels_;
  std::set<Channel> touched_;
};

} // namespace

// Whether all ranks run this program, and it has no sends and receives.
static bool isUniform(const plan::Program &program, uint32_t ranks) {
  if (program.ranks_size() != int(ranks))
    return false;
  for (const plan::Segment &segment : program.segments())
    for (const plan::Instruction &instruction : segment.instructions())
      if (instruction.has_collective() && isPointToPoint(kindOf(instruction.collective())))
        return false;
  return true;
}

static Status verifyCommunicationOf(const plan::Plan &plan, plan::Program::Kind kind) {
  for (const plan::Program &program : plan.programs())
    if (program.kind() == kind && isUniform(program, rankCount(plan)))
      return Status::ok();
  return CommunicationCheck(plan, kind).run();
}

Status verifyCommunication(const plan::Plan &plan) {
  CLEAVE_TRY(verifyCommunicationOf(plan, plan::Program::STEP));
  return hasEvaluation(plan)
             ? verifyCommunicationOf(plan, plan::Program::EVALUATION).withContext("evaluation")
             : Status::ok();
}

} // namespace cleave::artifact
