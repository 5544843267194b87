// Goes through the runs of a step in the order of the list. For each instruction and each other
// queue, it looks for the last instruction that has to be complete before it: the last one in
// conflict with it, unless its predecessor or another wait implies it. An instruction keeps the
// waits that any of its runs needs. Trees over the bytes find the last conflict.
#include "passes/schedule/Waits.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace cleave::schedule {

namespace {

// Intervals in a row, and which execution accessed each of them last: a segment tree.
class LastAccess {
public:
  explicit LastAccess(size_t intervals)
      : leaves_(std::bit_ceil(std::max<size_t>(intervals, 1))), ofAll_(2 * leaves_, -1),
        ofAny_(2 * leaves_, -1) {}

  // `execution` is later than those before, and accesses the intervals [begin, end).
  void add(size_t begin, size_t end, int64_t execution) {
    size_t left = begin + leaves_, right = end + leaves_;
    for (; left < right; left /= 2, right /= 2) {
      if (left % 2)
        ofAll_[left] = ofAny_[left] = execution, ++left;
      if (right % 2)
        --right, ofAll_[right] = ofAny_[right] = execution;
    }
    forAbove(begin, end, [&](size_t node) { ofAny_[node] = execution; });
  }

  // The last execution that accessed any of the intervals [begin, end); -1: none.
  int64_t find(size_t begin, size_t end) const {
    int64_t last = -1;
    size_t left = begin + leaves_, right = end + leaves_;
    for (; left < right; left /= 2, right /= 2) {
      if (left % 2)
        last = std::max(last, ofAny_[left++]);
      if (right % 2)
        last = std::max(last, ofAny_[--right]);
    }
    forAbove(begin, end, [&](size_t node) { last = std::max(last, ofAll_[node]); });
    return last;
  }

private:
  // Visits the ancestors of the first and the last interval. They include every node that has
  // intervals inside and outside of the range.
  void forAbove(size_t begin, size_t end, auto visit) const {
    for (size_t leaf : {begin + leaves_, end - 1 + leaves_})
      for (size_t node = leaf / 2; node > 0; node /= 2)
        visit(node);
  }

  size_t leaves_;
  // By node: the last execution that accessed all of its intervals at once, and the last one that
  // accessed any of them.
  std::vector<int64_t> ofAll_, ofAny_;
};

// An access, by the intervals [begin, end) between the ends of all accesses.
struct IntervalAccess {
  size_t begin, end;
  bool isWritten;
};

// The accesses of all instructions to any bytes, and the number of intervals.
std::pair<std::vector<std::vector<IntervalAccess>>, size_t>
intervalAccesses(const QueuedProgram &program) {
  std::vector<int64_t> ends;
  for (const auto &segment : program.segments)
    for (const QueuedInstruction &instruction : segment)
      for (const ByteAccess &access : instruction.accesses) {
        ends.push_back(access.begin);
        ends.push_back(access.end);
      }
  std::ranges::sort(ends);
  ends.erase(std::ranges::unique(ends).begin(), ends.end());
  auto intervalAt = [&](int64_t byte) {
    return static_cast<size_t>(std::ranges::lower_bound(ends, byte) - ends.begin());
  };
  std::vector<std::vector<IntervalAccess>> accesses;
  for (const auto &segment : program.segments)
    for (const QueuedInstruction &instruction : segment) {
      accesses.emplace_back();
      for (const ByteAccess &access : instruction.accesses)
        if (access.begin < access.end)
          accesses.back().push_back(
              {intervalAt(access.begin), intervalAt(access.end), access.isWritten});
    }
  return {std::move(accesses), ends.size()};
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
    size_t intervals;
    std::tie(accesses_, intervals) = intervalAccesses(program);
    reads_.assign(kQueues, LastAccess(intervals));
    writes_.assign(kQueues, LastAccess(intervals));
    newest_.fill(-1);
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
    if (newest_[queue] >= 0)
      known = executions_[newest_[queue]].complete;
    for (int64_t wait : result_.waits[number]) // of runs before
      complete(latest_[wait], known);
    // The conflicts of all queues, the latest first, so that it can imply the others.
    std::vector<int64_t> needed;
    for (uint32_t other = 0; other < kQueues; ++other)
      if (other != queue && newest_[other] > known[other])
        if (int64_t found = lastConflict(number, other); found > known[other])
          needed.push_back(found);
    std::sort(needed.rbegin(), needed.rend());
    for (int64_t execution : needed)
      if (execution > known[queueOf(execution)]) {
        result_.waits[number].push_back(executions_[execution].number);
        complete(execution, known);
      }
    latest_[number] = newest_[queue] = known[queue] = static_cast<int64_t>(executions_.size());
    for (const IntervalAccess &access : accesses_[number])
      (access.isWritten ? writes_ : reads_)[queue].add(access.begin, access.end, latest_[number]);
    executions_.push_back({number, &instruction, known});
  }

  // The last execution in the queue that is in conflict with the instruction; -1: none.
  int64_t lastConflict(int64_t number, uint32_t queue) const {
    int64_t last = -1;
    for (const IntervalAccess &access : accesses_[number]) {
      last = std::max(last, writes_[queue].find(access.begin, access.end));
      if (access.isWritten)
        last = std::max(last, reads_[queue].find(access.begin, access.end));
    }
    return last;
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
  std::array<int64_t, kQueues> newest_;               // by queue: its last execution; -1: none
  std::vector<std::vector<IntervalAccess>> accesses_; // by instruction
  std::vector<LastAccess> reads_, writes_;            // by queue
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
