// The dataflow rule: walks one step's schedule, segment by segment and slot by slot, and follows
// what each buffer holds. This catches what lifetimes alone do not: a value that should survive
// from one micro-batch to the next but whose bytes are taken in between.
#include "runtime/artifact/Access.h"
#include "runtime/artifact/VerifyRules.h"

#include <algorithm>

namespace cleave::artifact {
namespace {

constexpr int64_t kNobody = -1;

class Walk {
public:
  explicit Walk(const ProgramView &view)
      : view_(view), overlaps_(view.program.buffers_size()), holds_(view.program.buffers_size()),
        clobberedBy_(view.program.buffers_size(), kNobody), pendingIn_(view.program.buffers_size()),
        pending_(view.program.events() + 1) {
    findOverlaps();
    for (int i = 0; i < view.program.buffers_size(); ++i) {
      plan::Role role = view.program.buffers(i).role();
      holds_[i] = role == plan::PARAMETER || role == plan::STATE || role == plan::CONSTANT ||
                  role == plan::COORDINATES;
    }
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
        return Status::defect("rank " + std::to_string(view_.rank) + " ends its step with event " +
                              std::to_string(event) + " started and not waited for");
    return Status::ok();
  }

private:
  // overlaps_[a]: the other buffers with bytes in common. A sweep over offsets per arena.
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
    if (clobberedBy_[buffer] == kNobody)
      return Status::defect("it reads buffer '" + name(buffer) + "' before anything writes it");
    return Status::defect("it reads buffer '" + name(buffer) + "' after buffer '" +
                          name(clobberedBy_[buffer]) + "' has taken its bytes");
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
      return Status::defect("it touches buffer '" + name(buffer) +
                            "' while the collective of event " + std::to_string(event) +
                            " uses its bytes");
    return Status::ok();
  }

  Status start(const plan::Collective &collective) {
    uint32_t event = collective.event();
    if (event == 0)
      return Status::ok();
    if (pending_[event])
      return Status::defect("it starts event " + std::to_string(event) +
                            ", which is started and not waited for");
    pending_[event] = &collective;
    mark(collective, event);
    return Status::ok();
  }

  Status wait(uint32_t event) {
    if (!pending_[event])
      return Status::defect("it waits for event " + std::to_string(event) +
                            ", which nothing has started");
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
  std::vector<std::vector<uint32_t>> overlaps_;
  std::vector<bool> holds_;          // the buffer's bytes are its own value
  std::vector<int64_t> clobberedBy_; // who wrote over it last
  std::vector<uint32_t> pendingIn_;  // the event of a started collective that uses it, or 0
  std::vector<const plan::Collective *> pending_; // by event
};

} // namespace

Status verifyDataflow(const ProgramView &view) { return Walk(view).run(); }

} // namespace cleave::artifact
