// --html: a page that shows the plan in a browser, without a network. It draws the
// JSON of the plan, to which every instruction and every buffer is added here.
#include "compiler/schedule/Simulate.h"
#include "compiler/schedule/plan/PlanTimeline.h"
#include "runtime/artifact/Access.h"
#include "runtime/artifact/Work.h"
#include "runtime/base/Fold.h"
#include "tools/cleave-dump/ArenaUse.h"
#include "tools/cleave-dump/BackwardBegin.h"
#include "tools/cleave-dump/DecisionTables.h"
#include "tools/cleave-dump/InstructionText.h"
#include "tools/cleave-dump/ModelTree.h"
#include "tools/cleave-dump/PlanJson.h"
#include "tools/cleave-dump/PlanText.h"
#include "tools/cleave-dump/Speed.h"
#include "tools/cleave-dump/Views.h"
#include "tools/page/Page.h"

#include <algorithm>
#include <map>
#include <set>

namespace cleave::dump {

namespace {

// The predicted times of a step on the first rank of each program. If the plan has one program,
// each segment is simulated once. Otherwise every run is simulated, because messages order the runs
// of different programs. All times are 0 if the plan deadlocks.
class StepTimes {
public:
  explicit StepTimes(const plan::Plan &plan)
      : step_(schedule::timelineOf(plan, hasOneStep(plan) ? schedule::TimelineForm::Segments
                                                          : schedule::TimelineForm::Folded)) {
    if (Result<schedule::Simulation> found = schedule::simulate(step_.timeline))
      simulation_ = std::move(*found);
    else
      step_ = {};
    for (const schedule::SegmentRun &run : step_.runs)
      firstTasks_[{run.rank, run.segment}].push_back(run.firstTask);
  }

  // Seconds since the step started, when an instruction or the segment begins in its first run; 0
  // in segments that the step does not run.
  double beginOf(uint32_t program, uint32_t segment, int instruction = 0) const {
    const std::vector<uint32_t> &tasks = firstTasksOf(program, segment);
    return tasks.empty() ? 0 : beginOf(tasks.front() + size_t(instruction));
  }

  // Seconds since the step started, when the second and later runs of the segment begin.
  std::vector<double> laterBeginsOf(uint32_t program, uint32_t segment) const {
    std::vector<double> begins;
    for (uint32_t task : firstTasksOf(program, segment))
      begins.push_back(beginOf(size_t(task)));
    if (!begins.empty())
      begins.erase(begins.begin());
    return begins;
  }

  // Pairs of [begin, end] in which the program communicates and does not compute.
  Json exposedOf(uint32_t program) const {
    Json pairs = Json::array();
    for (size_t r = 0; r < step_.timeline.resources.size(); ++r) {
      const schedule::Resource &resource = step_.timeline.resources[r];
      if (resource.rank == rankOf(program) && resource.kind == schedule::ResourceKind::Link)
        for (const schedule::Interval &interval : simulation_.exposed[r])
          pairs.push_back({interval.begin, interval.end});
    }
    return pairs;
  }

private:
  static bool hasOneStep(const plan::Plan &plan) {
    return std::ranges::count_if(plan.programs(), [](const plan::Program &program) {
             return !isEvaluation(program);
           }) == 1;
  }

  double beginOf(size_t task) const {
    return task < simulation_.begins.size() ? simulation_.begins[task] : 0; // an empty segment
  }

  const std::vector<uint32_t> &firstTasksOf(uint32_t program, uint32_t segment) const {
    static const std::vector<uint32_t> none;
    const auto found = firstTasks_.find({rankOf(program), segment});
    return found == firstTasks_.end() ? none : found->second;
  }

  // The first rank that runs the program's step, or kNone.
  uint32_t rankOf(uint32_t program) const {
    const std::vector<schedule::Unit> &units = step_.timeline.units;
    return program < units.size() && !units[program].ranks.empty() ? units[program].ranks.front()
                                                                   : schedule::kNone;
  }

  schedule::PlanTimeline step_;
  schedule::Simulation simulation_;
  // The first task of each run, by rank and segment.
  std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>> firstTasks_;
};

} // namespace

// Seconds of all runs of a step in which rank 0 communicates, and the part of them in which it
// computes nothing.
static Json communicationJson(const plan::Plan &plan) {
  const schedule::Timeline step =
      schedule::timelineOf(plan, schedule::TimelineForm::Folded).timeline;
  const Result<schedule::Simulation> found = schedule::simulate(step);
  double seconds = 0, exposed = 0;
  for (size_t r = 0; found && r < step.resources.size(); ++r)
    if (step.resources[r].rank == 0 && step.resources[r].kind == schedule::ResourceKind::Link) {
      seconds += found->busySeconds[r];
      exposed += found->exposedSeconds[r];
    }
  return {{"seconds", seconds}, {"exposed", exposed}};
}

static uint64_t bytesOf(const plan::Program &program, const plan::Instruction &instruction) {
  uint64_t bytes = 0;
  for (const artifact::Access &access : artifact::accessesOf(program, instruction))
    bytes += access.bytes ? access.bytes : bufferAt(program, access.buffer).bytes();
  return bytes;
}

// Rows of [name, kind, lane, begin, seconds, FLOPs, bytes, text]. Begins are those in the step.
static Json instructionsJson(const plan::Plan &plan, uint32_t p, uint32_t s,
                             const StepTimes &times) {
  Json rows = Json::array();
  const plan::Program &program = plan.programs(int(p));
  const plan::Segment &segment = program.segments(int(s));
  for (int i = 0; i < segment.instructions_size(); ++i) {
    const plan::Instruction &instruction = segment.instructions(i);
    const bool known = !instruction.has_launch() ||
                       instruction.launch().kernel() < uint32_t(program.kernels_size());
    rows.push_back({instruction.name(), artifact::kindName(instruction), laneOf(instruction),
                    times.beginOf(p, s, i), instruction.seconds(),
                    known ? artifact::flopsOf(program, instruction) : 0,
                    bytesOf(program, instruction), instructionText(plan, program, instruction)});
  }
  return rows;
}

// Rows of [name, role, bytes, first, last, arena, offset, shape]; positions lie in the program.
static Json blocksJson(const plan::Program &program) {
  Json rows = Json::array();
  const size_t positions = std::max<size_t>(1, positionCount(program));
  for (const plan::Buffer &buffer : program.buffers()) {
    const size_t last = std::min<size_t>(buffer.last(), positions - 1);
    if (buffer.first() <= last)
      rows.push_back({buffer.name(), text(buffer.role()), buffer.bytes(), buffer.first(), last,
                      buffer.arena(), buffer.offset(), shapeText(buffer.shape())});
  }
  return rows;
}

// Decisions of one kind and choice whose names differ in numbers only, those of equal layers, as
// [folded name, indices]. Answers to what-if are separate steps, whose seconds do not add up.
// Remarks and decisions about the mesh have no row.
static Json decisionRowsJson(const plan::Plan &plan) {
  const std::set<std::string> shownElsewhere = {"remark", "mesh", "axis", "strategy"};
  std::map<std::string, size_t> rowOf;
  std::vector<std::vector<int>> rows;
  for (int d = 0; d < plan.decisions_size(); ++d) {
    const plan::Decision &decision = plan.decisions(d);
    if (shownElsewhere.contains(decision.kind()))
      continue;
    const std::string which = decision.kind() == "what-if" ? std::to_string(d) : "";
    const std::string key =
        Json{decision.kind(), decision.choice(), nameShape(rowName(decision)), which}.dump(
            -1, ' ', false, Json::error_handler_t::replace);
    const auto [row, isNew] = rowOf.emplace(key, rows.size());
    if (isNew)
      rows.emplace_back();
    rows[row->second].push_back(d);
  }
  Json result = Json::array();
  for (const std::vector<int> &row : rows) {
    std::vector<std::string> names;
    for (int d : row)
      names.push_back(rowName(plan.decisions(d)));
    result.push_back({foldedName(names), row});
  }
  return result;
}

static Json pageJson(const plan::Plan &plan) {
  Json result = planJson(plan);
  result["communication"] = communicationJson(plan);
  result["decision_rows"] = decisionRowsJson(plan);
  result["bound"] = boundText(plan);
  for (int d = 0; d < plan.decisions_size(); ++d)
    if (plan.decisions(d).kind() == "mesh")
      result["decisions"][size_t(d)]["verdict"] = meshVerdict(plan, plan.decisions(d));
  const ModelJson model = modelTree(plan);
  result["model"] = model.nodes;
  result["model_edges"] = model.edges;
  const StepTimes times(plan);
  for (int p = 0; p < plan.programs_size(); ++p) {
    const plan::Program &program = plan.programs(p);
    Json segments = Json::array();
    for (int s = 0; s < program.segments_size(); ++s)
      segments.push_back({{"name", program.segments(s).name()},
                          {"runs", runsOf(program, s)},
                          {"begin", times.beginOf(p, s)},
                          {"later_begins", times.laterBeginsOf(p, s)},
                          {"instructions", instructionsJson(plan, p, s, times)}});
    result["programs"][p]["segments"] = segments;
    if (const std::optional<size_t> begin = backwardBegin(program))
      result["programs"][p]["backward"] = *begin;
    result["programs"][p]["exposed"] = times.exposedOf(p);
    result["programs"][p]["blocks"] = blocksJson(program);
  }
  return result;
}

std::string htmlView(const plan::Plan &plan, const std::string &path) {
  return page::page(page::Kind::Plan, titleOf(plan, path),
                    pageJson(plan).dump(-1, ' ', false, Json::error_handler_t::replace));
}

} // namespace cleave::dump
