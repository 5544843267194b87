// The dataflow rule: follows one step's schedule in order and tracks which buffers hold their
// values. Unlike the check of lifetimes, this detects a value that must survive from one
// micro-batch to the next but is overwritten in between. The order of the list stands for all in
// which the instructions may run, since the queue rule holds. See Verify.h.
#include "runtime/artifact/Access.h"
#include "runtime/artifact/ByteRanges.h"
#include "runtime/artifact/VerifyRules.h"

#include <optional>
#include <utility>
#include <vector>

namespace cleave::artifact {
namespace {

constexpr int64_t kNoBuffer = -1;

class DataflowCheck {
public:
  explicit DataflowCheck(const ProgramView &view)
      : view_(view), isEvaluation_(view.program.kind() == plan::Program::EVALUATION),
        holds_(view.program.buffers_size()), first_(view.program.buffers_size()),
        clobberedBy_(view.program.buffers_size(), kNoBuffer) {
    for (int i = 0; i < view.program.buffers_size(); ++i) {
      holds_[i] = isPersistent(view.program.buffers(i));
      if (holds_[i]) // disjoint, by the placement rule
        owners_.add(view.program.buffers(i), uint32_t(i));
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
    return Status::ok();
  }

private:
  const std::string &name(int64_t buffer) const {
    return view_.program.buffers(int(buffer)).name();
  }

  Status visit(int segment, int index) {
    const std::vector<Access> &accesses = accesses_[segment][index];
    for (const Access &access : accesses)
      if (mayRead(access, {segment, index}) && !holds_[access.buffer] &&
          view_.program.buffers(int(access.buffer)).bytes() > 0)
        return unreadable(access.buffer);
    for (const Access &access : accesses) {
      if (access.writes && isEvaluation_ && isPersistent(view_.program.buffers(int(access.buffer))))
        return Status::defect("it writes buffer '", name(access.buffer),
                              "', which an evaluation may only read");
      if (access.writes)
        write(access.buffer);
    }
    return Status::ok();
  }

  // A kernel may read what it writes, unless the values of the buffer begin with it: it is the
  // instruction that accesses the buffer first.
  bool mayRead(const Access &access, std::pair<int, int> now) {
    auto &first = first_[access.buffer];
    if (!first)
      first = now;
    return access.reads || (access.writes && *first != now);
  }

  Status unreadable(uint32_t buffer) const {
    if (clobberedBy_[buffer] == kNoBuffer)
      return Status::defect("it reads buffer '", name(buffer), "' before anything writes it");
    return Status::defect("it reads buffer '", name(buffer), "' after buffer '",
                          name(clobberedBy_[buffer]), "' has taken its bytes");
  }

  void write(uint32_t buffer) {
    owners_.remove(view_.program.buffers(int(buffer)), [&](uint32_t other) {
      holds_[other] = false;
      clobberedBy_[other] = buffer;
    });
    owners_.add(view_.program.buffers(int(buffer)), buffer);
    holds_[buffer] = true;
  }

  const ProgramView &view_;
  bool isEvaluation_;
  std::vector<std::vector<std::vector<Access>>> accesses_; // by segment and instruction
  std::vector<bool> holds_;                                // by buffer: its bytes are its value
  // By buffer: the segment and instruction that accesses it first.
  std::vector<std::optional<std::pair<int, int>>> first_;
  ByteRanges owners_;                // by range: the buffer whose value its bytes are
  std::vector<int64_t> clobberedBy_; // by buffer: the buffer that took its bytes, or kNoBuffer
};

} // namespace

Status verifyDataflow(const ProgramView &view) { return DataflowCheck(view).run(); }

} // namespace cleave::artifact
