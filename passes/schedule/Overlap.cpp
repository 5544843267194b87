// See Overlap.h.
#include "passes/schedule/Overlap.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <queue>
#include <span>
#include <tuple>
#include <unordered_map>

namespace cleave::schedule {
namespace {

// Shorter stalls change no order, in seconds.
constexpr double kShort = 1e-6;
// Instructions that are searched for one that need not wait.
constexpr int64_t kWindow = 256;
// Attempts with both steps, each with less memory than the one before, by its excess. One attempt
// with step 1 alone follows.
constexpr int kAttempts = 3;

using Numbers = std::vector<int64_t>;

// Instructions of a segment that may change places, numbered from 0, and what each of them has to
// follow.
struct Stretch {
  int64_t begin = 0; // number of the first one in the program
  std::span<const QueuedInstruction> instructions;
  std::vector<Numbers> before, after;

  int64_t size() const { return int64_t(instructions.size()); }
  uint32_t queue(int64_t i) const { return instructions[size_t(i)].queue; }
};

bool isMessage(const QueuedInstruction &instruction) {
  return instruction.queue == kSendQueue || instruction.queue == kReceiveQueue;
}

Stretch stretchOf(std::span<const QueuedInstruction> instructions, int64_t begin) {
  struct Accesses {
    int64_t writer = -1;
    Numbers readers; // since then
  };
  Stretch stretch{.begin = begin, .instructions = instructions};
  stretch.before.resize(instructions.size()), stretch.after.resize(instructions.size());
  std::unordered_map<int64_t, Accesses> known; // by buffer
  for (int64_t i = 0; i < stretch.size(); ++i) {
    Numbers &before = stretch.before[size_t(i)];
    for (const ByteAccess &access : instructions[size_t(i)].accesses) {
      const Accesses &earlier = known[access.begin];
      if (earlier.writer >= 0)
        before.push_back(earlier.writer);
      if (access.isWritten)
        before.insert(before.end(), earlier.readers.begin(), earlier.readers.end());
    }
    for (const ByteAccess &access : instructions[size_t(i)].accesses) {
      Accesses &own = known[access.begin];
      if (access.isWritten)
        own.writer = i, own.readers.clear();
      else
        own.readers.push_back(i);
    }
    std::sort(before.begin(), before.end());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    if (!before.empty() && before.back() == i) // reads and writes one buffer
      before.pop_back();
    for (int64_t earlier : before)
      stretch.after[size_t(earlier)].push_back(i);
  }
  return stretch;
}

// Divides the segments at messages. Each message is a stretch by itself.
std::vector<Stretch> stretchesOf(const TimedProgram &timed) {
  std::vector<Stretch> stretches;
  int64_t number = 0;
  for (const auto &segment : timed.program.segments)
    for (auto begin = segment.begin(); begin != segment.end();) {
      const auto end =
          isMessage(*begin) ? begin + 1 : std::find_if(begin, segment.end(), isMessage);
      stretches.push_back(stretchOf({begin, end}, number));
      number += end - begin;
      begin = end;
    }
  return stretches;
}

// When queues are free, and when instructions of a segment end.
class Clock {
public:
  Clock(const Stretch &stretch, const std::vector<double> &seconds)
      : stretch_(stretch), seconds_(seconds), ends_(size_t(stretch.size())) {}

  // When all that the instruction has to follow has ended.
  double readyAt(int64_t i) const {
    double ready = 0;
    for (int64_t earlier : stretch_.before[size_t(i)])
      ready = std::max(ready, ends_[size_t(earlier)]);
    return ready;
  }
  double freeAt(uint32_t queue) const { return free_[queue]; }

  void run(int64_t i) {
    const uint32_t queue = stretch_.queue(i);
    double begin = std::max(free_[queue], readyAt(i));
    if (queue != kComputeQueue)
      begin = std::max(begin, free_[kComputeQueue]);
    ends_[size_t(i)] = free_[queue] = begin + seconds_[size_t(stretch_.begin + i)];
  }
  double endOf(int64_t i) const { return ends_[size_t(i)]; }
  double beginOf(int64_t i) const { return endOf(i) - seconds_[size_t(stretch_.begin + i)]; }
  double end() const { return *std::max_element(free_.begin(), free_.end()); }

private:
  const Stretch &stretch_;
  const std::vector<double> &seconds_;
  std::vector<double> ends_;
  std::array<double, kQueues> free_{};
};

Lives livesOf(const TimedProgram &timed) { return livesOf(timed.program, timed.bytes.size()); }

// By instruction: the bytes that are live.
Numbers liveBytesOf(const TimedProgram &timed, const Lives &lives) {
  Numbers live(timed.seconds.size() + 1, 0);
  for (size_t buffer = 0; buffer < timed.bytes.size(); ++buffer)
    if (lives.first[buffer] >= 0) {
      live[size_t(lives.first[buffer])] += timed.bytes[buffer];
      live[size_t(lives.last[buffer]) + 1] -= timed.bytes[buffer];
    }
  std::partial_sum(live.begin(), live.end(), live.begin());
  live.pop_back();
  return live;
}

int64_t greatest(const Numbers &bytes) {
  return bytes.empty() ? 0 : *std::max_element(bytes.begin(), bytes.end());
}

// Finds a new order for one stretch.
class StretchOrder {
public:
  // `live`: the live bytes of the whole program in the given order; `limit`: the most allowed.
  StretchOrder(const TimedProgram &timed, const Stretch &stretch, const Lives &lives, Numbers &live,
               int64_t limit)
      : timed_(timed), stretch_(stretch), lives_(lives), live_(live), limit_(limit) {}

  // Step 1 of overlapOrder(): transfers move, computation keeps its order.
  Numbers moveTransfers() {
    const int64_t size = stretch_.size();
    std::vector<double> starts(size_t(size) + 1, 0); // of computation that never waits
    for (int64_t i = 0; i < size; ++i)
      starts[size_t(i) + 1] =
          starts[size_t(i)] + (stretch_.queue(i) == kComputeQueue ? secondsOf(i) : 0);
    std::vector<double> begins = starts; // of transfers: when they begin
    Numbers places(static_cast<size_t>(size));
    std::iota(places.begin(), places.end(), 0);
    placeBackwards(starts, begins, places);
    return sorted(places, begins);
  }

  // Step 2: where computation would wait for a transfer, runs later computation first that need not
  // wait.
  Numbers runEarly(const Numbers &given) {
    Clock clock(stretch_, timed_.seconds);
    std::vector<bool> hasRun(given.size());
    startCounting();
    Numbers order;
    auto run = [&](int64_t i) {
      clock.run(i);
      count(i);
      hasRun[size_t(i)] = true;
      order.push_back(i);
    };
    auto mayRun = [&](int64_t i) {
      return std::ranges::all_of(stretch_.before[size_t(i)],
                                 [&](int64_t earlier) { return hasRun[size_t(earlier)]; });
    };
    auto stalls = [&](int64_t i) {
      return stretch_.queue(i) == kComputeQueue &&
             clock.readyAt(i) > clock.freeAt(kComputeQueue) + kShort;
    };
    // The first later computation that may run, does not wait, and has memory.
    auto insteadOf = [&](size_t head) {
      int64_t seen = 0;
      for (size_t at = head + 1; at < given.size() && seen < kWindow; ++at) {
        const int64_t i = given[at];
        if (hasRun[size_t(i)])
          continue;
        ++seen;
        if (stretch_.queue(i) == kComputeQueue && mayRun(i) && !stalls(i) &&
            counted_ + added(i) <= limit_)
          return i;
      }
      return int64_t(-1);
    };
    for (size_t head = 0; head < given.size();) {
      const int64_t i = given[head];
      if (hasRun[size_t(i)]) {
        ++head;
      } else if (!stalls(i)) {
        run(i);
      } else {
        const int64_t other = insteadOf(head);
        run(other >= 0 ? other : i);
      }
    }
    return order;
  }

private:
  bool isTransfer(int64_t i) const { return stretch_.queue(i) != kComputeQueue; }
  double secondsOf(int64_t i) const { return timed_.seconds[size_t(stretch_.begin + i)]; }
  const std::vector<ByteAccess> &accesses(int64_t i) const {
    return stretch_.instructions[size_t(i)].accesses;
  }

  // The bytes of buffers that become live at the instruction, in the given order.
  int64_t bytesFrom(int64_t i) const {
    int64_t bytes = 0;
    for (const ByteAccess &access : accesses(i))
      if (lives_.first[size_t(access.begin)] == stretch_.begin + i)
        bytes += timed_.bytes[size_t(access.begin)];
    return bytes;
  }

  // Takes the transfers from the last deadline to the first: each ends when its first reader or the
  // next transfer of its queue begins. Copies to another space have no reader; they begin where
  // they are.
  void placeBackwards(const std::vector<double> &starts, std::vector<double> &begins,
                      Numbers &places) {
    Numbers open(places.size()); // later transfers without a place, by transfer
    std::vector<double> deadlines(places.size(), starts.back());
    std::priority_queue<std::pair<double, int64_t>> next;
    for (int64_t i = 0; i < stretch_.size(); ++i) {
      if (!isTransfer(i))
        continue;
      for (int64_t later : stretch_.after[size_t(i)])
        if (isTransfer(later))
          ++open[size_t(i)];
        else
          deadlines[size_t(i)] = std::min(deadlines[size_t(i)], starts[size_t(later)]);
      if (stretch_.queue(i) == kTransferQueue)
        deadlines[size_t(i)] = std::min(deadlines[size_t(i)], starts[size_t(i)] + secondsOf(i));
      if (open[size_t(i)] == 0)
        next.push({deadlines[size_t(i)], i});
    }
    std::array<double, kQueues> behinds; // by queue: when the next transfer begins
    behinds.fill(starts.back());
    while (!next.empty()) {
      const int64_t i = next.top().second;
      next.pop();
      double &behind = behinds[stretch_.queue(i)];
      double ready = 0;
      int64_t least = 0; // the first place after the computation on which it depends
      for (int64_t earlier : stretch_.before[size_t(i)])
        if (!isTransfer(earlier))
          ready = std::max(ready, starts[size_t(earlier) + 1]), least = earlier + 1;
      const double begin = std::min(deadlines[size_t(i)], behind) - secondsOf(i);
      behind = std::min(behind, std::max(begin, ready));
      begins[size_t(i)] = std::max(begin, ready);
      move(i, std::max(least, placeAt(starts, begin, i)), places);
      for (int64_t earlier : stretch_.before[size_t(i)])
        if (isTransfer(earlier)) {
          double &deadline = deadlines[size_t(earlier)];
          deadline = std::min(deadline, begins[size_t(i)]);
          if (--open[size_t(earlier)] == 0)
            next.push({deadline, earlier});
        }
    }
  }

  // The last place up to `i` at which computation begins at `time` or before.
  static int64_t placeAt(const std::vector<double> &starts, double time, int64_t i) {
    const auto end = starts.begin() + i + 1;
    return std::max<int64_t>(0, std::upper_bound(starts.begin(), end, time) - starts.begin() - 1);
  }

  // Moves a transfer to a place before it, or as near to it as memory permits.
  void move(int64_t i, int64_t to, Numbers &places) {
    const int64_t bytes = bytesFrom(i);
    int64_t &place = places[size_t(i)];
    for (; place > to; --place) {
      int64_t &live = live_[size_t(stretch_.begin + place - 1)];
      if (live + bytes > limit_)
        return;
      live += bytes;
    }
  }

  // Sorts instructions by place. At the same place, transfers come first, in the order of their
  // begins. Dependences are kept.
  Numbers sorted(const Numbers &places, const std::vector<double> &begins) const {
    using Key = std::tuple<int64_t, bool, double, int64_t>; // the least one is next
    std::priority_queue<Key, std::vector<Key>, std::greater<>> next;
    Numbers open(places.size()), order;
    auto push = [&](int64_t i) {
      next.push({places[size_t(i)], !isTransfer(i), isTransfer(i) ? begins[size_t(i)] : 0, i});
    };
    for (int64_t i = 0; i < stretch_.size(); ++i)
      if ((open[size_t(i)] = int64_t(stretch_.before[size_t(i)].size())) == 0)
        push(i);
    while (!next.empty()) {
      const int64_t number = std::get<3>(next.top());
      next.pop();
      order.push_back(number);
      for (int64_t later : stretch_.after[size_t(number)])
        if (--open[size_t(later)] == 0)
          push(later);
    }
    return order;
  }

  // Counts live bytes while instructions run. The buffers of a transfer are live until computation
  // begins that depends on it.
  void startCounting() {
    counted_ = 0;
    inFlight_.clear();
    open_.assign(timed_.bytes.size(), 0);
    isLive_.assign(timed_.bytes.size(), false);
    const int64_t end = stretch_.begin + stretch_.size();
    for (size_t buffer = 0; buffer < timed_.bytes.size(); ++buffer) {
      if (lives_.first[buffer] >= 0 && lives_.first[buffer] < stretch_.begin &&
          lives_.last[buffer] >= stretch_.begin)
        isLive_[buffer] = true, counted_ += timed_.bytes[buffer];
      if (lives_.last[buffer] >= end)
        open_[buffer] = 1; // read by a later stretch
    }
    for (int64_t i = 0; i < stretch_.size(); ++i)
      for (const ByteAccess &access : accesses(i))
        ++open_[size_t(access.begin)];
  }
  int64_t added(int64_t i) const {
    int64_t bytes = 0;
    for (const ByteAccess &access : accesses(i))
      if (!isLive_[size_t(access.begin)])
        bytes += timed_.bytes[size_t(access.begin)];
    return bytes;
  }
  void count(int64_t i) {
    if (stretch_.queue(i) == kComputeQueue)
      land(i);
    for (const ByteAccess &access : accesses(i))
      if (const auto buffer = size_t(access.begin); !isLive_[buffer])
        isLive_[buffer] = true, counted_ += timed_.bytes[buffer];
    if (stretch_.queue(i) == kComputeQueue)
      finish(i);
    else
      inFlight_.push_back(i);
  }
  // Ends the transfers on which computation depends, and those before them in their queues.
  void land(int64_t i) {
    for (int64_t earlier : stretch_.before[size_t(i)]) {
      const uint32_t queue = stretch_.queue(earlier);
      if (queue == kComputeQueue || !std::ranges::count(inFlight_, earlier))
        continue;
      for (auto at = inFlight_.begin(); at != inFlight_.end();) {
        const int64_t landed = *at;
        if (stretch_.queue(landed) == queue) {
          finish(landed);
          at = inFlight_.erase(at);
        } else {
          ++at;
        }
        if (landed == earlier)
          break;
      }
    }
  }
  void finish(int64_t i) {
    for (const ByteAccess &access : accesses(i))
      if (const auto buffer = size_t(access.begin); --open_[buffer] == 0)
        isLive_[buffer] = false, counted_ -= timed_.bytes[buffer];
  }

  const TimedProgram &timed_;
  const Stretch &stretch_;
  const Lives &lives_;
  Numbers &live_;
  int64_t limit_;
  int64_t counted_ = 0;
  Numbers inFlight_;         // transfers in the order in which they ran
  Numbers open_;             // by buffer: accesses to come
  std::vector<bool> isLive_; // by buffer
};

bool transfers(const Stretch &stretch) {
  return std::ranges::any_of(stretch.instructions, [](const QueuedInstruction &instruction) {
    return instruction.queue != kComputeQueue && !isMessage(instruction);
  });
}

// The order of all instructions. `runsEarly`: with step 2.
Numbers orderWithin(const TimedProgram &timed, const std::vector<Stretch> &stretches,
                    const Lives &lives, int64_t limit, bool runsEarly) {
  Numbers live = liveBytesOf(timed, lives), order(timed.seconds.size());
  std::iota(order.begin(), order.end(), 0);
  for (const Stretch &stretch : stretches) {
    if (!transfers(stretch))
      continue;
    StretchOrder found(timed, stretch, lives, live, limit);
    Numbers inside = found.moveTransfers();
    if (runsEarly)
      inside = found.runEarly(inside);
    for (size_t i = 0; i < inside.size(); ++i)
      order[size_t(stretch.begin) + i] = stretch.begin + inside[i];
  }
  return order;
}

// Extends the lives of the buffers of a transfer that end before instruction `to`, if there is
// memory.
bool extend(const TimedProgram &timed, const QueuedInstruction &transfer, int64_t to, int64_t limit,
            Lives &lives, Numbers &live) {
  int64_t bytes = 0;
  auto ends = [&](const ByteAccess &access) { return lives.last[size_t(access.begin)] == to - 1; };
  for (const ByteAccess &access : transfer.accesses)
    bytes += ends(access) ? timed.bytes[size_t(access.begin)] : 0;
  if (live[size_t(to)] + bytes > limit)
    return false;
  live[size_t(to)] += bytes;
  for (const ByteAccess &access : transfer.accesses)
    if (ends(access))
      lives.last[size_t(access.begin)] = to;
  return true;
}

} // namespace

TimedProgram reordered(const TimedProgram &timed, const std::vector<int64_t> &order) {
  TimedProgram result = timed;
  size_t number = 0;
  int64_t begin = 0;
  for (size_t s = 0; s < timed.program.segments.size(); ++s) {
    const auto &given = timed.program.segments[s];
    for (QueuedInstruction &instruction : result.program.segments[s]) {
      instruction = given[size_t(order[number] - begin)];
      result.seconds[number] = timed.seconds[size_t(order[number])];
      ++number;
    }
    begin += int64_t(given.size());
  }
  return result;
}

double secondsOf(const TimedProgram &timed) {
  double seconds = 0;
  for (const Stretch &stretch : stretchesOf(timed)) {
    Clock clock(stretch, timed.seconds);
    for (int64_t i = 0; i < stretch.size(); ++i)
      clock.run(i);
    seconds += clock.end();
  }
  return seconds;
}

TimedProgram withFlights(const TimedProgram &timed, int64_t limit) {
  Lives lives = livesOf(timed);
  Numbers live = liveBytesOf(timed, lives);
  limit = std::max(limit, greatest(live));
  TimedProgram result = timed;
  std::vector<QueuedInstruction *> instructions;
  for (auto &segment : result.program.segments)
    for (QueuedInstruction &instruction : segment)
      instructions.push_back(&instruction);
  for (const Stretch &stretch : stretchesOf(timed)) {
    Clock clock(stretch, timed.seconds);
    for (int64_t i = 0; i < stretch.size(); ++i)
      clock.run(i);
    for (int64_t i = 0; i < stretch.size(); ++i) {
      QueuedInstruction &transfer = *instructions[size_t(stretch.begin + i)];
      if (transfer.flight < 0)
        continue;
      for (int64_t next = i + transfer.flight + 1; next < stretch.size(); ++next) {
        const bool isComplete =
            stretch.queue(next) == kComputeQueue && clock.beginOf(next) >= clock.endOf(i);
        if (isComplete || !extend(timed, transfer, stretch.begin + next, limit, lives, live))
          break;
        ++transfer.flight;
      }
    }
  }
  return result;
}

int64_t peakOf(const TimedProgram &timed) { return greatest(liveBytesOf(timed, livesOf(timed))); }

std::vector<int64_t> overlapOrder(const TimedProgram &timed, int64_t limit) {
  Numbers given(timed.seconds.size());
  std::iota(given.begin(), given.end(), 0);
  const std::vector<Stretch> stretches = stretchesOf(timed);
  const Lives lives = livesOf(timed);
  limit = std::max(limit, greatest(liveBytesOf(timed, lives)));
  const double seconds = secondsOf(timed);
  int64_t aim = limit;
  for (int attempt = 0; attempt <= kAttempts; ++attempt) {
    const bool isLast = attempt == kAttempts;
    Numbers order = orderWithin(timed, stretches, lives, isLast ? limit : aim, !isLast);
    const TimedProgram found = reordered(timed, order);
    if (secondsOf(found) > seconds - kShort)
      break;
    const int64_t excess = peakOf(found) - limit;
    if (excess <= 0)
      return order;
    aim -= excess;
  }
  return given;
}

} // namespace cleave::schedule
