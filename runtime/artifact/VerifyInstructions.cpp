// The instruction rule, for every instruction by itself: indices are in range, operands are inside
// their buffers and live, dtypes and sizes agree; and the schedule rule. See Verify.h.
#include "runtime/artifact/Access.h"
#include "runtime/artifact/Enums.h"
#include "runtime/artifact/Mesh.h"
#include "runtime/artifact/VerifyRules.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace cleave::artifact {
namespace {

// Instructions that one step may run on one rank; more would take hours.
constexpr uint64_t kMostRuns = uint64_t(1) << 28;

Status verifyAccess(const ProgramView &view, const Access &access, uint32_t position) {
  if (access.buffer >= uint32_t(view.program.buffers_size()))
    return Status::defect("it uses buffer ", access.buffer, ", the program has ",
                          view.program.buffers_size());
  const plan::Buffer &buffer = at(view, access.buffer);
  if (access.bytes > buffer.bytes())
    return Status::defect("it reaches byte ", access.bytes, " of buffer '", buffer.name(),
                          "', which has ", buffer.bytes());
  if (position < buffer.first() || position > buffer.last())
    return Status::defect("it is at position ", position, ", but buffer '", buffer.name(),
                          "' is live from ", buffer.first(), " to ", buffer.last());
  if (std::optional<Role> role = findRole(buffer.role());
      access.writes && role && !factsOf(*role).isWritten)
    return Status::defect("it writes buffer '", buffer.name(), "' of role ",
                          roleName(buffer.role()));
  return Status::ok();
}

// One pair of a collective among `ranks`.
Status verifyPair(const ProgramView &view, const plan::Collective &collective, int i,
                  int64_t ranks) {
  const plan::Buffer &send = at(view, collective.send(i)), &recv = at(view, collective.recv(i));
  int64_t sent = elementCount(send.shape()), received = elementCount(recv.shape());
  if (send.dtype() != recv.dtype())
    return Status::defect("it sends ", quoted(view, collective.send(i)), " as ",
                          dtypeName(send.dtype()), " and receives ",
                          quoted(view, collective.recv(i)), " as ", dtypeName(recv.dtype()));
  const CollectiveKind kind = kindOf(collective);
  if (received != elementsReceived(kind, sent, ranks) || sent % chunksSent(kind, ranks) != 0)
    return Status::defect("it sends ", sent, " elements of ", quoted(view, collective.send(i)),
                          " and receives ", received, " in ", quoted(view, collective.recv(i)),
                          ", which does not fit ", ranks, " ranks");
  bool same = collective.send(i) == collective.recv(i);
  bool inPlace = kind == CollectiveKind::AllReduce;
  if (shareBytes(send, recv) && !(same && inPlace))
    return Status::defect("it receives ", quoted(view, collective.recv(i)), " over ",
                          quoted(view, collective.send(i)), ", which it sends");
  return Status::ok();
}

// Checks that no pair receives into the buffers of another pair, because their order is
// unspecified.
Status verifyPairsApart(const ProgramView &view, const plan::Collective &collective) {
  for (int i = 0; i < collective.recv_size(); ++i)
    for (int j = 0; j < collective.recv_size(); ++j) {
      const plan::Buffer &recv = at(view, collective.recv(i));
      for (uint32_t other : {collective.send(j), collective.recv(j)})
        if (i != j && shareBytes(recv, at(view, other)))
          return Status::defect("it receives ", quoted(view, collective.recv(i)), " over ",
                                quoted(view, other), " of another pair");
    }
  return Status::ok();
}

// A permute moves blocks between positions along the same axes, perhaps in reverse.
Status verifyToAxes(const plan::Collective &collective) {
  const auto &axes = collective.axes(), &to = collective.to_axes();
  if (kindOf(collective) != CollectiveKind::Permute && collective.reversed())
    return Status::defect("it is reversed, but not a permute");
  if (kindOf(collective) != CollectiveKind::Permute)
    return to.empty() ? Status::ok()
                      : Status::defect("it has axes to permute to and is no permute");
  return std::is_permutation(axes.begin(), axes.end(), to.begin(), to.end())
             ? Status::ok()
             : Status::defect("its blocks go to positions along other axes than they come from");
}

Status verifyCollective(const ProgramView &view, const plan::Collective &collective) {
  if (!findKind(collective))
    return Status::defect("its kind ", int(collective.kind()), " does not exist");
  if (!plan::Reduce_IsValid(collective.reduce()))
    return Status::defect("its reduction ", int(collective.reduce()), " does not exist");
  std::vector<bool> used(view.plan.mesh_size());
  int64_t ranks = 1;
  for (uint32_t axis : collective.axes()) {
    if (axis >= used.size() || used[axis])
      return Status::defect("its mesh axis ", axis, " does not exist or is repeated");
    used[axis] = true;
    ranks *= view.plan.mesh(axis).size();
  }
  CLEAVE_TRY(verifyToAxes(collective));
  bool sends = kindOf(collective) == CollectiveKind::Send;
  bool receives = kindOf(collective) == CollectiveKind::Recv;
  if ((sends || receives) && collective.peer() >= ranks)
    return Status::defect("its peer ", collective.peer(), " is not one of its ", ranks, " ranks");
  if (sends || receives)
    return (sends ? collective.recv_size() : collective.send_size()) == 0
               ? Status::ok()
               : Status::defect("it has buffers of the other direction");
  if (collective.send_size() != collective.recv_size())
    return Status::defect("it sends ", collective.send_size(), " buffers and receives ",
                          collective.recv_size());
  for (int i = 0; i < collective.send_size(); ++i)
    CLEAVE_TRY(verifyPair(view, collective, i, ranks));
  return verifyPairsApart(view, collective);
}

Status verifyRole(const ProgramView &view, uint32_t buffer, plan::Role role) {
  return at(view, buffer).role() == role
             ? Status::ok()
             : Status::defect("its buffer ", quoted(view, buffer), " has role ",
                              roleName(at(view, buffer).role()), ", not ", roleName(role));
}

Status verifyMetric(const ProgramView &view, const plan::Metric &metric) {
  const plan::Buffer &buffer = at(view, metric.buffer());
  if (elementCount(buffer.shape()) != 1 ||
      (buffer.dtype() != plan::F32 && buffer.dtype() != plan::F64))
    return Status::defect("its buffer ", quoted(view, metric.buffer()),
                          " is not an f32 or f64 scalar");
  return Status::ok();
}

// A workspace is one buffer of that role, and no other operand of the instruction.
Status verifyWorkspace(const ProgramView &view, const plan::Instruction &instruction) {
  const auto &workspace = instruction.has_matmul()        ? instruction.matmul().workspace()
                          : instruction.has_convolution() ? instruction.convolution().workspace()
                                                          : instruction.attention().workspace();
  if (workspace.empty())
    return Status::ok();
  if (workspace.size() > 1)
    return Status::defect("it has ", workspace.size(), " workspaces, expected at most one");
  CLEAVE_TRY(verifyRole(view, workspace[0], plan::WORKSPACE));
  int uses = 0;
  for (const Access &access : accessesOf(view.program, instruction))
    uses += access.buffer == workspace[0];
  return uses == 1 ? Status::ok()
                   : Status::defect("its workspace ", quoted(view, workspace[0]),
                                    " is another operand, too");
}

plan::Space spaceOf(const ProgramView &view, uint32_t buffer) {
  return view.program.arenas(int(at(view, buffer).arena())).space();
}

// Only copies access other spaces than device memory, one at a time.
Status verifySpaces(const ProgramView &view, const plan::Instruction &instruction) {
  const Access *other = nullptr;
  const std::vector<Access> accesses = accessesOf(view.program, instruction);
  for (const Access &access : accesses) {
    if (spaceOf(view, access.buffer) == plan::DEVICE)
      continue;
    if (!instruction.has_copy() || other)
      return Status::defect("it accesses ", quoted(view, access.buffer), " in space ",
                            plan::Space_Name(spaceOf(view, access.buffer)),
                            ", expected device memory");
    other = &access;
  }
  return Status::ok();
}

// The rules of the instruction's kind. Its buffers exist and are large enough.
Status verifyKind(const ProgramView &view, const plan::Instruction &instruction) {
  switch (instruction.kind_case()) {
  case plan::Instruction::kLaunch:
    return verifyLaunch(view, instruction.launch());
  case plan::Instruction::kMatmul:
    return verifyMatmul(view, instruction.matmul());
  case plan::Instruction::kConvolution:
    return verifyConvolution(view, instruction.convolution());
  case plan::Instruction::kAttention:
    return verifyAttention(view, instruction.attention());
  case plan::Instruction::kGroupedMatmul:
    return verifyGroupedMatmul(view, instruction.grouped_matmul());
  case plan::Instruction::kCollective:
    return verifyCollective(view, instruction.collective());
  case plan::Instruction::kCopy:
    return at(view, instruction.copy().from()).bytes() == at(view, instruction.copy().to()).bytes()
               ? Status::ok()
               : Status::defect("it copies ", quoted(view, instruction.copy().from()), " to ",
                                quoted(view, instruction.copy().to()), ", which has another size");
  case plan::Instruction::kLoadInput:
    return verifyRole(view, instruction.load_input().buffer(), plan::INPUT);
  case plan::Instruction::kStoreOutput:
    return verifyRole(view, instruction.store_output().buffer(), plan::OUTPUT);
  case plan::Instruction::kMetric:
    return verifyMetric(view, instruction.metric());
  case plan::Instruction::kFill: {
    const plan::Buffer &buffer = at(view, instruction.fill().buffer());
    return isStorable(instruction.fill().value(), buffer.dtype())
               ? Status::ok()
               : Status::defect("its value ", instruction.fill().value(), " does not fit ",
                                dtypeName(buffer.dtype()));
  }
  case plan::Instruction::KIND_NOT_SET:
    break;
  }
  return Status::defect("its kind is unknown");
}

} // namespace

Status verifyInstructions(const ProgramView &view) {
  uint32_t position = 0;
  for (int s = 0; s < view.program.segments_size(); ++s)
    for (int i = 0; i < view.program.segments(s).instructions_size(); ++i, ++position) {
      const plan::Instruction &instruction = view.program.segments(s).instructions(i);
      for (const Access &access : accessesOf(view.program, instruction))
        CLEAVE_TRY(verifyAccess(view, access, position).withContext(view.instruction(s, i)));
      CLEAVE_TRY(verifySpaces(view, instruction).withContext(view.instruction(s, i)));
      CLEAVE_TRY(verifyKind(view, instruction).withContext(view.instruction(s, i)));
      CLEAVE_TRY(verifyWorkspace(view, instruction).withContext(view.instruction(s, i)));
      if (!(instruction.seconds() >= 0) || !std::isfinite(instruction.seconds()))
        return Status::defect(view.instruction(s, i), " is predicted to take ",
                              instruction.seconds(), " seconds");
    }
  return Status::ok();
}

Status verifySchedule(const ProgramView &view) {
  const auto &schedule = view.program.schedule();
  int size = schedule.size();
  uint64_t runs = 0;
  std::set<std::pair<uint32_t, uint32_t>> seen;
  for (const plan::ScheduleStep &step : schedule) {
    if (step.segment() >= uint32_t(view.program.segments_size()))
      return Status::defect("rank ", view.rank, " schedules segment ", step.segment(), ", it has ",
                            view.program.segments_size());
    if (step.slot() >= uint32_t(size))
      return Status::defect("rank ", view.rank, " schedules micro-batch ", step.slot(),
                            " in a schedule of ", size, " steps");
    if (!seen.emplace(step.segment(), step.slot()).second)
      return Status::defect("rank ", view.rank, " schedules segment ", step.segment(),
                            " twice for micro-batch ", step.slot());
    runs += uint64_t(view.program.segments(int(step.segment())).instructions_size());
  }
  return runs <= kMostRuns
             ? Status::ok()
             : Status::defect("rank ", view.rank, " runs ", runs,
                              " instructions in a step, expected at most ", kMostRuns);
}

} // namespace cleave::artifact
