// The programs rule: every rank runs one step, and all or no ranks run one evaluation; programs of
// one rank agree on the memory that outlives them. See Verify.h.
#include "runtime/artifact/Access.h"
#include "runtime/artifact/Mesh.h"
#include "runtime/artifact/Programs.h"
#include "runtime/artifact/VerifyRules.h"

#include <algorithm>
#include <set>
#include <utility>

namespace cleave::artifact {

// `a step`
static const char *kindName(plan::Program::Kind kind) {
  return kind == plan::Program::STEP ? "a step" : "an evaluation";
}

static Status verifyRanks(const plan::Program &program, uint32_t ranks) {
  if (!plan::Program::Kind_IsValid(program.kind()))
    return Status::defect("its kind ", int(program.kind()), " does not exist");
  if (program.ranks().empty())
    return Status::defect("no rank runs it");
  for (int i = 0; i < program.ranks_size(); ++i) {
    if (program.ranks(i) >= ranks)
      return Status::defect("rank ", program.ranks(i), " runs it, the mesh has ", ranks);
    if (i > 0 && program.ranks(i) <= program.ranks(i - 1))
      return Status::defect("it lists rank ", program.ranks(i), " behind rank ",
                            program.ranks(i - 1), ", expected ascending ranks");
  }
  return Status::ok();
}

// Each rank runs one program of the kind.
static Status verifyKind(const plan::Plan &plan, plan::Program::Kind kind) {
  std::vector<uint32_t> ranks;
  for (const plan::Program &program : plan.programs())
    if (program.kind() == kind)
      ranks.insert(ranks.end(), program.ranks().begin(), program.ranks().end());
  std::ranges::sort(ranks);
  if (auto twice = std::ranges::adjacent_find(ranks); twice != ranks.end())
    return Status::defect("rank ", *twice, " runs ", kindName(kind), " twice, expected once");
  if (ranks.size() != rankCount(plan))
    return Status::defect("the plan lists ", kindName(kind), " for ", ranks.size(),
                          " ranks, its mesh has ", rankCount(plan));
  return Status::ok();
}

Status verifyProgramTable(const plan::Plan &plan) {
  const uint32_t ranks = rankCount(plan);
  bool isAnyEvaluated = false;
  for (int i = 0; i < plan.programs_size(); ++i) {
    CLEAVE_TRY(verifyRanks(plan.programs(i), ranks).withContext(concat("program ", i)));
    isAnyEvaluated |= plan.programs(i).kind() == plan::Program::EVALUATION;
  }
  CLEAVE_TRY(verifyKind(plan, plan::Program::STEP));
  return isAnyEvaluated ? verifyKind(plan, plan::Program::EVALUATION) : Status::ok();
}

static std::vector<const plan::Buffer *> persistentBuffersOf(const plan::Program &program) {
  std::vector<const plan::Buffer *> found;
  for (const plan::Buffer &buffer : program.buffers())
    if (isPersistent(buffer))
      found.push_back(&buffer);
  return found;
}

static bool isSamePlace(const plan::Buffer &a, const plan::Buffer &b) {
  return a.arena() == b.arena() && a.offset() == b.offset() && a.bytes() == b.bytes() &&
         a.role() == b.role() && a.tensor() == b.tensor() && a.dtype() == b.dtype();
}

static Status verifySharedMemory(const plan::Program &step, const plan::Program &other) {
  const bool agree = std::ranges::equal(step.arenas(), other.arenas(), {}, &plan::Arena::space,
                                        &plan::Arena::space);
  if (!agree)
    return Status::defect("its arenas are not in the spaces of those of the step");
  const std::vector<const plan::Buffer *> expected = persistentBuffersOf(step);
  const std::vector<const plan::Buffer *> found = persistentBuffersOf(other);
  for (size_t i = 0; i < std::max(expected.size(), found.size()); ++i) {
    if (i >= expected.size() || i >= found.size())
      return Status::defect("it has ", found.size(), " buffers that outlive it, the step has ",
                            expected.size());
    if (!isSamePlace(*expected[i], *found[i]))
      return Status::defect("its buffer '", found[i]->name(), "' is not the same bytes as buffer '",
                            expected[i]->name(), "' of the step");
  }
  return Status::ok();
}

Status verifyPrograms(const plan::Plan &plan) {
  std::set<std::pair<const plan::Program *, const plan::Program *>> done;
  for (const plan::Program &program : plan.programs())
    for (uint32_t rank : program.ranks()) {
      const plan::Program &step = stepOf(plan, rank);
      if (&step != &program && done.emplace(&step, &program).second)
        CLEAVE_TRY(verifySharedMemory(step, program)
                       .withContext(concat("rank ", rank, ", program '", program.name(), "'")));
    }
  return Status::ok();
}

} // namespace cleave::artifact
