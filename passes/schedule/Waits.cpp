// Goes through the runs of a step in the order of the list. For each instruction and each other
// queue, it looks for the last instruction that has to be complete before it: the last one in
// conflict with it, unless its predecessor or another wait implies it. An instruction keeps the
// waits that any of its runs needs.
#include "passes/schedule/Waits.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>

namespace cleave::schedule {

namespace {

bool conflicts(const QueuedInstruction &a, const QueuedInstruction &b) {
  for (const ByteAccess &x : a.accesses)
    for (const ByteAccess &y : b.accesses)
      if ((x.isWritten || y.isWritten) && x.begin < y.end && y.begin < x.end)
        return true;
  return false;
}

class Order {
public:
  explicit Order(const QueuedProgram &program) : program_(program) {
    int64_t count = 0;
    for (const auto &segment : program.segments) {
      first_.push_back(count);
      count += static_cast<int64_t>(segment.size());
    }
    result_.waits.resize(count);
    result_.until.resize(count);
    for (int64_t i = 0; i < count; ++i)
      result_.until[i] = i;
    latest_.resize(count, -1);
  }

  QueueOrder run() {
    // Between two runs of a segment in a row and those that follow, nothing new happens.
    for (size_t i = 0; i < program_.schedule.size(); ++i)
      if (const auto &schedule = program_.schedule;
          i < 2 || schedule[i] != schedule[i - 1] || schedule[i] != schedule[i - 2])
        addRun(schedule[i]);
    for (std::vector<int64_t> &waits : result_.waits)
      std::sort(waits.begin(), waits.end());
    return std::move(result_);
  }

private:
  // By queue: the last execution that is known to be complete; -1: none.
  using Complete = std::array<int64_t, kQueues>;
  // A run of an instruction.
  struct Execution {
    int64_t number; // of the instruction
    const QueuedInstruction *instruction;
    Complete complete; // when it is
  };

  void addRun(int64_t segment) {
    const auto begin = static_cast<int64_t>(executions_.size());
    for (size_t i = 0; i < program_.segments[segment].size(); ++i)
      execute(first_[segment] + static_cast<int64_t>(i), program_.segments[segment][i]);
    followFlights(begin);
  }

  void execute(int64_t number, const QueuedInstruction &instruction) {
    const uint32_t queue = instruction.queue;
    Complete known;
    known.fill(-1);
    if (!members_[queue].empty())
      known = executions_[members_[queue].back()].complete;
    for (int64_t wait : result_.waits[number]) // of runs before
      complete(latest_[wait], known);
    // The conflicts of all queues, the latest first, so that it can imply the others.
    std::vector<int64_t> needed;
    for (uint32_t other = 0; other < kQueues; ++other)
      if (other != queue)
        if (int64_t found = lastConflict(instruction, other, known[other]); found >= 0)
          needed.push_back(found);
    std::sort(needed.rbegin(), needed.rend());
    for (int64_t execution : needed)
      if (execution > known[queueOf(execution)]) {
        result_.waits[number].push_back(executions_[execution].number);
        complete(execution, known);
      }
    latest_[number] = known[queue] = static_cast<int64_t>(executions_.size());
    members_[queue].push_back(latest_[number]);
    executions_.push_back({number, &instruction, known});
  }

  // The last execution in the queue behind `known` that is in conflict with the instruction; -1:
  // none.
  int64_t lastConflict(const QueuedInstruction &instruction, uint32_t queue, int64_t known) const {
    const std::vector<int64_t> &members = members_[queue];
    for (auto at = members.rbegin(); at != members.rend() && *at > known; ++at)
      if (conflicts(*executions_[*at].instruction, instruction))
        return *at;
    return -1;
  }

  // Adds the execution and all that it implies; -1: no execution.
  void complete(int64_t execution, Complete &known) const {
    for (uint32_t q = 0; execution >= 0 && q < kQueues; ++q)
      known[q] = std::max(known[q], executions_[execution].complete[q]);
  }

  uint32_t queueOf(int64_t execution) const { return executions_[execution].instruction->queue; }

  // Sets `until` of the instructions of other queues that were executed from `begin` on. Each
  // instruction of queue 0 knows at least what the one before it knew.
  void followFlights(int64_t begin) {
    const auto end = static_cast<int64_t>(executions_.size());
    if (begin == end)
      return;
    std::array<int64_t, kQueues> before; // by queue: the last execution that queue 0 knows
    before.fill(begin - 1);
    std::vector<int64_t> until(end - begin, executions_.back().number);
    for (int64_t e = begin; e < end; ++e) {
      if (queueOf(e) != kComputeQueue)
        continue;
      until[e - begin] = executions_[e].number;
      for (uint32_t q = 0; q < kQueues; ++q)
        for (int64_t &known = before[q]; q != kComputeQueue && known < executions_[e].complete[q];)
          if (queueOf(++known) == q)
            until[known - begin] = executions_[e].number - 1;
    }
    for (int64_t e = begin; e < end; ++e) {
      const int64_t number = executions_[e].number, flight = executions_[e].instruction->flight;
      int64_t &last = result_.until[number];
      last = std::max(last,
                      flight < 0 ? until[e - begin] : std::min(until[e - begin], number + flight));
    }
  }

  const QueuedProgram &program_;
  std::vector<int64_t> first_;  // by segment: its first instruction
  std::vector<int64_t> latest_; // by instruction: its latest execution; -1: none
  std::vector<Execution> executions_;
  std::array<std::vector<int64_t>, kQueues> members_; // by queue: its executions
  QueueOrder result_;
};

} // namespace

QueueOrder orderOf(const QueuedProgram &program) { return Order(program).run(); }

namespace {

// Extends the lives of buffers that pass a value from one segment to another one that runs later.
// The life includes all segments that run in between, wherever they are in the list. If the second
// segment precedes the first one in the list, the life also includes both as a whole.
class Interleaving {
public:
  explicit Interleaving(const QueuedProgram &program) : program_(program) {
    int64_t count = 0;
    for (const auto &segment : program.segments) {
      first_.push_back(count);
      count += static_cast<int64_t>(segment.size());
    }
    first_.push_back(count);
  }

  void extend(Lives &lives) {
    std::vector<std::vector<int64_t>> readers(lives.first.size()); // by buffer: segments
    for (size_t s = 0; s < program_.segments.size(); ++s)
      for (const QueuedInstruction &instruction : program_.segments[s])
        for (const ByteAccess &access : instruction.accesses)
          if (std::vector<int64_t> &segments = readers[size_t(access.begin)];
              segments.empty() || segments.back() != static_cast<int64_t>(s))
            segments.push_back(static_cast<int64_t>(s));
    for (size_t buffer = 0; buffer < readers.size(); ++buffer) {
      const std::vector<int64_t> &segments = readers[buffer];
      if (segments.size() < 2)
        continue;
      const Within &within = withinLife(segments);
      if (within.first <= within.last) {
        lives.first[buffer] = std::min(lives.first[buffer], within.first);
        lives.last[buffer] = std::max(lives.last[buffer], within.last);
      }
    }
  }

private:
  // Instructions, by number: the first and the last one.
  struct Within {
    int64_t first = std::numeric_limits<int64_t>::max(), last = -1;
  };

  void includeAll(int64_t segment, Within &within) const {
    if (first_[segment] == first_[segment + 1])
      return;
    within.first = std::min(within.first, first_[segment]);
    within.last = std::max(within.last, first_[segment + 1] - 1);
  }

  // The instructions that a life includes because a value passes from a run of one of `segments` to
  // the next run of one of them. A run of the first segment makes a new value.
  const Within &withinLife(const std::vector<int64_t> &segments) {
    auto [known, isNew] = known_.try_emplace(segments);
    Within &within = known->second;
    if (!isNew)
      return within;
    std::optional<size_t> before;
    for (size_t i = 0; i < program_.schedule.size(); ++i) {
      const int64_t segment = program_.schedule[i];
      if (std::ranges::find(segments, segment) == segments.end())
        continue;
      if (before && segment != segments[0]) {
        for (size_t between = *before + 1; between < i; ++between)
          includeAll(program_.schedule[between], within);
        if (program_.schedule[*before] > segment) {
          includeAll(program_.schedule[*before], within);
          includeAll(segment, within);
        }
      }
      before = i;
    }
    return within;
  }

  const QueuedProgram &program_;
  std::vector<int64_t> first_; // by segment: its first instruction
  std::map<std::vector<int64_t>, Within> known_;
};

} // namespace

Lives livesOf(const QueuedProgram &program, size_t buffers) {
  const std::vector<int64_t> until = orderOf(program).until;
  Lives lives{std::vector<int64_t>(buffers, -1), std::vector<int64_t>(buffers, -1)};
  int64_t number = 0;
  for (const auto &instructions : program.segments)
    for (const QueuedInstruction &instruction : instructions) {
      for (const ByteAccess &access : instruction.accesses) {
        int64_t &first = lives.first[size_t(access.begin)],
                &last = lives.last[size_t(access.begin)];
        first = first < 0 ? number : first;
        last = std::max(last, until[size_t(number)]);
      }
      ++number;
    }
  Interleaving(program).extend(lives);
  return lives;
}

} // namespace cleave::schedule
