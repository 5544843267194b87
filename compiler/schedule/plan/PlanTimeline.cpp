#include "compiler/schedule/plan/PlanTimeline.h"

#include "compiler/schedule/plan/PlanMeetings.h"
#include "runtime/artifact/Access.h"
#include "runtime/artifact/Mesh.h"
#include "runtime/base/Queue.h"

#include <algorithm>
#include <array>
#include <map>

namespace cleave::schedule {

ResourceKind resourceKindOf(const plan::Instruction &instruction) {
  if (instruction.has_collective())
    return ResourceKind::Link;
  return instruction.queue() == kTransferQueue || instruction.has_load_input() ||
                 instruction.has_store_output()
             ? ResourceKind::HostLink
             : ResourceKind::Compute;
}

namespace {

// The link of a collective; 0 for other instructions.
uint32_t linkOf(const plan::Instruction &instruction) {
  return instruction.queue() == kSendQueue ? 1 : instruction.queue() == kReceiveQueue ? 2 : 0;
}

// By rank: the program of its step, or kNone.
std::vector<uint32_t> programsOfRanks(const plan::Plan &plan) {
  size_t listed = 0;
  for (const plan::Program &program : plan.programs())
    listed += program.kind() == plan::Program::STEP ? program.ranks_size() : 0;
  std::vector<uint32_t> programs(std::min<size_t>(listed, artifact::rankCount(plan)), kNone);
  for (int p = plan.programs_size() - 1; p >= 0; --p)
    if (plan.programs(p).kind() == plan::Program::STEP)
      for (uint32_t rank : plan.programs(p).ranks())
        if (rank < programs.size())
          programs[rank] = static_cast<uint32_t>(p);
  return programs;
}

// Whether all ranks run one program: they then do the same at the same time.
bool areAlike(const std::vector<uint32_t> &programs) {
  return std::all_of(programs.begin(), programs.end(),
                     [&](uint32_t program) { return program == programs.front(); });
}

bool isMessage(const plan::Collective &collective) {
  return collective.kind() == plan::Collective::SEND || collective.kind() == plan::Collective::RECV;
}

// The axes along which all ranks run one program.
std::vector<uint32_t> axesOfAlike(const plan::Plan &plan, const std::vector<uint32_t> &programs) {
  std::vector<uint32_t> axes;
  for (uint32_t axis = 0; axis < uint32_t(plan.mesh_size()); ++axis) {
    bool isAlike = true;
    for (uint32_t rank = 0; isAlike && rank < programs.size(); ++rank)
      isAlike = programs[rank] ==
                programs[artifact::groupOf(plan, rank, std::array<uint32_t, 1>{axis}).front()];
    if (isAlike)
      axes.push_back(axis);
  }
  return axes;
}

// Whether collectives are of `axes` and messages of others. Ranks that differ on `axes` only then
// do the same at the same time: each meets its like, and has its like for the peer of a message.
bool communicateAlike(const plan::Plan &plan, const std::vector<uint32_t> &axes) {
  for (const plan::Program &program : plan.programs())
    for (const plan::Segment &segment : program.segments())
      for (const plan::Instruction &instruction : segment.instructions())
        for (uint32_t axis : instruction.collective().axes())
          if (isMessage(instruction.collective()) == std::ranges::binary_search(axes, axis))
            return false;
  return true;
}

// Leaves one of the ranks that do the same, and makes the programs of the others kNone. Returns
// whether there are others.
bool leaveOneOfAlike(const plan::Plan &plan, std::vector<uint32_t> &programs) {
  if (programs.size() != artifact::rankCount(plan))
    return false;
  const std::vector<uint32_t> axes = axesOfAlike(plan, programs);
  if (axes.empty() || !communicateAlike(plan, axes))
    return false;
  for (uint32_t rank = 0; rank < programs.size(); ++rank) {
    const std::vector<uint32_t> at = artifact::coordinatesOf(plan, rank);
    if (std::ranges::any_of(axes, [&](uint32_t axis) { return at[axis] > 0; }))
      programs[rank] = kNone;
  }
  return true;
}

// A run of a segment in a step.
struct Run {
  uint32_t segment = 0, slot = 0;
  double times = 1; // the number of runs that it stands for
};

// Valid runs of the step in order; the first one of each segment if they are folded.
std::vector<Run> runsOf(const plan::Program &program, TimelineForm form) {
  std::vector<Run> runs;
  std::map<uint32_t, size_t> first; // by segment: its place in `runs`
  for (const plan::ScheduleStep &step : program.schedule()) {
    if (step.segment() >= uint32_t(program.segments_size()))
      continue;
    auto [at, isFirst] = first.try_emplace(step.segment(), runs.size());
    if (isFirst || form == TimelineForm::Full)
      runs.push_back({step.segment(), form == TimelineForm::Full ? step.slot() : 0});
    else if (form == TimelineForm::Folded)
      ++runs[at->second].times;
  }
  return runs;
}

// The facts about a program that its ranks share.
struct ProgramFacts {
  static constexpr uint32_t kUnused = kNone, kShared = kNone - 1;

  std::vector<Run> runs;
  std::vector<uint32_t> firstName; // by segment: the name of its first instruction
  size_t instructions = 0;         // of all segments
  std::vector<std::vector<std::vector<artifact::Access>>> accesses; // by segment, instruction
  std::vector<uint32_t> segmentOf; // by buffer: the only segment that accesses it, or kUnused or
                                   // kShared
};

void addAccess(const plan::Program &program, uint32_t segment, const artifact::Access &access,
               ProgramFacts &facts) {
  if (access.buffer >= uint32_t(program.buffers_size()))
    return;
  uint32_t &user = facts.segmentOf[access.buffer];
  user = user == ProgramFacts::kUnused || user == segment ? segment : ProgramFacts::kShared;
}

ProgramFacts factsOf(const plan::Program &program, TimelineForm form,
                     std::vector<std::string> &names) {
  if (form == TimelineForm::Folded && !artifact::hasOneQueue(program))
    form = TimelineForm::Full; // runs of a segment overlap
  ProgramFacts facts;
  facts.runs = runsOf(program, form);
  facts.segmentOf.resize(program.buffers_size(), ProgramFacts::kUnused);
  for (uint32_t s = 0; s < uint32_t(program.segments_size()); ++s) {
    facts.firstName.push_back(static_cast<uint32_t>(names.size()));
    facts.instructions += size_t(program.segments(int(s)).instructions_size());
    auto &accesses = facts.accesses.emplace_back();
    for (const plan::Instruction &instruction : program.segments(int(s)).instructions()) {
      names.push_back(instruction.name().empty() ? artifact::kindName(instruction)
                                                 : instruction.name());
      accesses.push_back(artifact::accessesOf(program, instruction));
      for (const artifact::Access &access : accesses.back())
        addAccess(program, s, access, facts);
    }
  }
  for (int b = 0; b < program.buffers_size(); ++b)
    if (artifact::isPersistent(program.buffers(b)))
      facts.segmentOf[b] = ProgramFacts::kShared;
  return facts;
}

class Builder {
public:
  Builder(const plan::Plan &plan, TimelineForm form)
      : plan_(plan), programs_(programsOfRanks(plan)),
        meetings_(plan, static_cast<uint32_t>(programs_.size())),
        isOneOfAll_(form != TimelineForm::Full && areAlike(programs_)) {
    isFolded_ = form == TimelineForm::Folded && !isOneOfAll_ && leaveOneOfAlike(plan, programs_);
    // Programs that differ meet in every run, so that only segments for show are folded.
    const bool areRunsFolded = isOneOfAll_ || form == TimelineForm::Segments;
    for (const plan::Program &program : plan.programs()) {
      result_.timeline.units.push_back({program.name(), {}});
      facts_.push_back(
          factsOf(program, areRunsFolded ? form : TimelineForm::Full, result_.timeline.names));
    }
  }

  PlanTimeline build() {
    for (rank_ = 0; rank_ < programs_.size() && (rank_ == 0 || !isOneOfAll_); ++rank_)
      addRank();
    return std::move(result_);
  }

private:
  void addRank() {
    resources_.clear();
    spaces_.clear();
    lastOfQueue_.clear();
    resource({ResourceKind::Compute, rank_});
    unit_ = programs_[rank_];
    if (unit_ == kNone)
      return;
    program_ = &plan_.programs(int(unit_));
    result_.timeline.units[unit_].ranks.push_back(rank_);
    bufferOf_.assign(program_->buffers_size(), kNone);
    addBuffers(ProgramFacts::kShared);
    latest_.assign(facts_[unit_].instructions, kNone);
    for (const Run &run : facts_[unit_].runs)
      addRun(run);
  }

  // Adds the buffers that only `segment` accesses, or the shared ones (kShared).
  void addBuffers(uint32_t segment) {
    for (int b = 0; b < program_->buffers_size(); ++b) {
      const plan::Buffer &buffer = program_->buffers(b);
      if (facts_[unit_].segmentOf[b] != segment ||
          buffer.arena() >= uint32_t(program_->arenas_size()))
        continue;
      bufferOf_[b] = static_cast<uint32_t>(result_.timeline.buffers.size());
      result_.timeline.buffers.push_back({space(program_->arenas(int(buffer.arena())).space()),
                                          buffer.bytes(), artifact::isPersistent(buffer)});
    }
  }

  void addRun(const Run &run) {
    addBuffers(run.segment);
    result_.runs.push_back({rank_, run.segment, uint32_t(result_.timeline.tasks.size())});
    const ProgramFacts &facts = facts_[unit_];
    const plan::Segment &segment = program_->segments(int(run.segment));
    for (int i = 0; i < segment.instructions_size(); ++i) {
      const plan::Instruction &instruction = segment.instructions(i);
      const uint32_t name = facts.firstName[run.segment] + uint32_t(i);
      const uint32_t task = addTask(instruction, name, run);
      addAccesses(task, facts.accesses[run.segment][i]);
      auto [last, isFirst] = lastOfQueue_.try_emplace(instruction.queue(), task);
      if (!isFirst)
        addDependency(std::exchange(last->second, task), task);
      for (uint32_t wait : instruction.waits())
        if (wait < latest_.size() && latest_[wait] != kNone)
          addDependency(latest_[wait], task);
      latest_[name - facts.firstName.front()] = task;
    }
  }

  uint32_t addTask(const plan::Instruction &instruction, uint32_t name, const Run &run) {
    Task task{name, unit_, run.slot,
              resource({resourceKindOf(instruction), rank_, linkOf(instruction)})};
    task.seconds = run.times * instruction.seconds();
    if (instruction.has_collective() && meets(instruction.collective()))
      task.meeting = meetings_.next(rank_, instruction.collective(), result_.timeline.meetings);
    result_.timeline.tasks.push_back(task);
    return static_cast<uint32_t>(result_.timeline.tasks.size() - 1);
  }

  // Whether other ranks of the group are added.
  bool meets(const plan::Collective &collective) const {
    return !isOneOfAll_ && (isMessage(collective) || !isFolded_);
  }

  // Both of this rank; the order of a resource needs no dependency.
  void addDependency(uint32_t before, uint32_t after) {
    const std::vector<Task> &tasks = result_.timeline.tasks;
    if (tasks[before].resource != tasks[after].resource)
      result_.timeline.dependencies.push_back({before, after});
  }

  void addAccesses(uint32_t task, const std::vector<artifact::Access> &accesses) {
    for (const artifact::Access &access : accesses)
      if (access.buffer < bufferOf_.size() && bufferOf_[access.buffer] != kNone)
        result_.timeline.accesses.push_back({task, bufferOf_[access.buffer], access.writes});
  }

  uint32_t resource(const Resource &resource) {
    auto [at, isNew] = resources_.try_emplace({resource.kind, resource.number},
                                              uint32_t(result_.timeline.resources.size()));
    if (isNew)
      result_.timeline.resources.push_back(resource);
    return at->second;
  }

  uint32_t space(plan::Space kind) {
    auto [at, isNew] = spaces_.try_emplace(kind, uint32_t(result_.timeline.spaces.size()));
    if (isNew)
      result_.timeline.spaces.push_back({kind == plan::DEVICE ? SpaceKind::Device
                                         : kind == plan::HOST ? SpaceKind::Host
                                                              : SpaceKind::File,
                                         rank_});
    return at->second;
  }

  const plan::Plan &plan_;
  std::vector<uint32_t> programs_; // by rank; kNone: it has no tasks
  PlanMeetings meetings_;
  bool isOneOfAll_;       // rank 0 represents all ranks, and has no meetings
  bool isFolded_ = false; // some ranks represent others, which they meet in no message
  std::vector<ProgramFacts> facts_;
  PlanTimeline result_;
  // State of the rank being added:
  uint32_t rank_ = 0, unit_ = 0;
  const plan::Program *program_ = nullptr;
  std::map<std::pair<ResourceKind, uint32_t>, uint32_t> resources_; // by kind and number
  std::map<plan::Space, uint32_t> spaces_;
  std::vector<uint32_t> bufferOf_;           // by buffer of the program: its current slot
  std::map<uint32_t, uint32_t> lastOfQueue_; // by queue: its last task
  std::vector<uint32_t> latest_;             // by instruction: the task of its latest run, or kNone
};

} // namespace

PlanTimeline timelineOf(const plan::Plan &plan, TimelineForm form) {
  return Builder(plan, form).build();
}

} // namespace cleave::schedule
