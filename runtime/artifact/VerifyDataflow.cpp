// The dataflow rule: follows one step's schedule in order and tracks which buffers hold their
// values. Unlike the check of lifetimes, this detects a value that must survive from one
// micro-batch to the next but is overwritten in between. See Verify.h.
#include "runtime/artifact/Access.h"
#include "runtime/artifact/VerifyRules.h"

#include <algorithm>

namespace cleave::artifact {
namespace {

constexpr int64_t kNoBuffer = -1;

class DataflowCheck {
public:
  explicit DataflowCheck(const ProgramView &view)
      : view_(view), overlaps_(view.program.buffers_size()), holds_(view.program.buffers_size()),
        clobberedBy_(view.program.buffers_size(), kNoBuffer),
        pendingIn_(view.program.buffers_size()), pending_(view.program.events() + 1) {
    findOverlaps();
    for (int i = 0; i < view.program.buffers_size(); ++i)
      holds_[i] = isPersistent(view.program.buffers(i));
    for (const plan::Segment &segment : view.program.segments()) {
      accesses_.emplace_back();
      for (const plan::Instruction &instruction : segment.instructions())
        accesses_.back().push_back(accessesOf(view.program, instruction));
    }
  }

  Status run() {
    for (const plan::ScheduleStep &step : view_.program.schedule()) {
      int segment = int(step.segment());
      for (int i = 0; i < view_.program.segments(segment).instructions_size(); ++i)
        CLEAVE_TRY(visit(segment, i).withContext(view_.instruction(segment, i)));
    }
    for (size_t event = 1; event < pending_.size(); ++event)
      if (pending_[event])
        return Status::defect("rank ", view_.rank, " ends its step with event ", event,
                              " started and not waited for");
    return Status::ok();
  }

private:
  // Fills overlaps_ by a sweep over the offsets of each arena.
  void findOverlaps() {
    const auto &buffers = view_.program.buffers();
    std::vector<uint32_t> order(buffers.size());
    for (uint32_t i = 0; i < order.size(); ++i)
      order[i] = i;
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return std::tuple(buffers[a].arena(), buffers[a].offset(), a) <
             std::tuple(buffers[b].arena(), buffers[b].offset(), b);
    });
    for (size_t i = 0; i < order.size(); ++i) {
      const plan::Buffer &a = buffers[order[i]];
      for (size_t j = i + 1; j < order.size(); ++j) {
        const plan::Buffer &b = buffers[order[j]];
        if (b.arena() != a.arena() || b.offset() >= a.offset() + a.bytes())
          break;
        if (b.bytes() == 0)
          continue;
        overlaps_[order[i]].push_back(order[j]);
        overlaps_[order[j]].push_back(order[i]);
      }
    }
  }

  const std::string &name(int64_t buffer) const {
    return view_.program.buffers(int(buffer)).name();
  }

  Status visit(int segment, int index) {
    const plan::Instruction &instruction = view_.program.segments(segment).instructions(index);
    if (instruction.has_wait())
      return wait(instruction.wait().event());
    const std::vector<Access> &accesses = accesses_[segment][index];
    for (const Access &access : accesses) {
      CLEAVE_TRY(checkNotPending(access.buffer));
      if (access.reads && !holds_[access.buffer] &&
          view_.program.buffers(int(access.buffer)).bytes() > 0)
        return unreadable(access.buffer);
    }
    for (const Access &access : accesses)
      if (access.writes)
        write(access.buffer);
    return instruction.has_collective() ? start(instruction.collective()) : Status::ok();
  }

  Status unreadable(uint32_t buffer) const {
    if (clobberedBy_[buffer] == kNoBuffer)
      return Status::defect("it reads buffer '", name(buffer), "' before anything writes it");
    return Status::defect("it reads buffer '", name(buffer), "' after buffer '",
                          name(clobberedBy_[buffer]), "' has taken its bytes");
  }

  void write(uint32_t buffer) {
    holds_[buffer] = true;
    for (uint32_t other : overlaps_[buffer]) {
      holds_[other] = false;
      clobberedBy_[other] = buffer;
    }
  }

  Status checkNotPending(uint32_t buffer) const {
    uint32_t event = pendingIn_[buffer];
    for (uint32_t other : overlaps_[buffer])
      event = std::max(event, pendingIn_[other]);
    if (event)
      return Status::defect("it touches buffer '", name(buffer), "' while the collective of event ",
                            event, " uses its bytes");
    return Status::ok();
  }

  Status start(const plan::Collective &collective) {
    uint32_t event = collective.event();
    if (event == 0)
      return Status::ok();
    if (pending_[event])
      return Status::defect("it starts event ", event, ", which is started and not waited for");
    pending_[event] = &collective;
    mark(collective, event);
    return Status::ok();
  }

  Status wait(uint32_t event) {
    if (!pending_[event])
      return Status::defect("it waits for event ", event, ", which nothing has started");
    mark(*pending_[event], 0);
    pending_[event] = nullptr;
    return Status::ok();
  }

  void mark(const plan::Collective &collective, uint32_t event) {
    for (uint32_t buffer : collective.send())
      pendingIn_[buffer] = event;
    for (uint32_t buffer : collective.recv())
      pendingIn_[buffer] = event;
  }

  const ProgramView &view_;
  std::vector<std::vector<std::vector<Access>>> accesses_; // by segment and instruction
  std::vector<std::vector<uint32_t>> overlaps_; // by buffer: other buffers with common bytes
  std::vector<bool> holds_;                     // by buffer: its bytes are its value
  std::vector<int64_t> clobberedBy_; // by buffer: the last buffer written over it, or kNoBuffer
  std::vector<uint32_t>
      pendingIn_; // by buffer: the event of a started collective that uses it, or 0
  std::vector<const plan::Collective *> pending_; // by event: started and not waited for
};

} // namespace

Status verifyDataflow(const ProgramView &view) { return DataflowCheck(view).run(); }

} // namespace cleave::artifact
