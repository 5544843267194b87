// The instruction rule, for every instruction by itself: indices are in range, operands are inside
// their buffers and live, dtypes and sizes agree. See Verify.h.
#include "runtime/artifact/Access.h"
#include "runtime/artifact/Mesh.h"
#include "runtime/artifact/VerifyRules.h"

#include <algorithm>

namespace cleave::artifact {
namespace {

const plan::Buffer &at(const ProgramView &view, uint32_t buffer) {
  return view.program.buffers(int(buffer));
}

std::string quoted(const ProgramView &view, uint32_t buffer) {
  return "'" + at(view, buffer).name() + "'";
}

// Whether two buffers have common bytes.
bool shareBytes(const plan::Buffer &a, const plan::Buffer &b) {
  return a.arena() == b.arena() && a.offset() < b.offset() + b.bytes() &&
         b.offset() < a.offset() + a.bytes();
}

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
  if (access.writes && (buffer.role() == plan::CONSTANT || buffer.role() == plan::COORDINATES))
    return Status::defect("it writes buffer '", buffer.name(), "' of role ",
                          plan::Role_Name(buffer.role()));
  return Status::ok();
}

Status verifyLaunch(const ProgramView &view, const plan::Launch &launch) {
  if (launch.kernel() >= uint32_t(view.program.kernels_size()))
    return Status::defect("it launches kernel ", launch.kernel(), ", the program has ",
                          view.program.kernels_size());
  // Every element of the range writes at least a byte, so the extent is at most the size of the
  // buffers.
  int64_t extent = view.program.kernels(launch.kernel()).extent();
  uint64_t bytes = 1;
  for (uint32_t buffer : launch.buffers())
    bytes += at(view, buffer).bytes();
  if (extent < 0 || uint64_t(extent) > bytes)
    return Status::defect("its kernel has extent ", extent, " on buffers of ", bytes - 1, " bytes");
  for (uint32_t position : launch.written())
    if (position >= uint32_t(launch.buffers_size()))
      return Status::defect("it writes operand ", position, ", it has ", launch.buffers_size());
  return Status::ok();
}

Status verifyMatmul(const ProgramView &view, const plan::Matmul &matmul) {
  std::vector<int64_t> sizes(matmul.batch().begin(), matmul.batch().end());
  sizes.resize(sizes.size() + 2);
  struct {
    const plan::StridedOperand &operand;
    int64_t rows, columns;
    const char *name;
  } operands[] = {{matmul.lhs(), matmul.m(), matmul.k(), "lhs"},
                  {matmul.rhs(), matmul.k(), matmul.n(), "rhs"},
                  {matmul.out(), matmul.m(), matmul.n(), "out"}};
  plan::DType dtype = at(view, matmul.lhs().buffer()).dtype();
  for (auto &[operand, rows, columns, name] : operands) {
    sizes[sizes.size() - 2] = rows, sizes[sizes.size() - 1] = columns;
    if (reachOf(operand, sizes) < 0)
      return Status::defect("its ", name,
                            " needs one non-negative stride per batch dim, row and column");
    if (at(view, operand.buffer()).dtype() != dtype)
      return Status::defect("its ", name, " is ", dtypeName(at(view, operand.buffer()).dtype()),
                            ", its lhs is ", dtypeName(dtype));
  }
  for (const plan::StridedOperand *operand : {&matmul.lhs(), &matmul.rhs()})
    if (shareBytes(at(view, operand->buffer()), at(view, matmul.out().buffer())))
      return Status::defect("its out ", quoted(view, matmul.out().buffer()),
                            " overlaps its operand ", quoted(view, operand->buffer()));
  return Status::ok();
}

Status verifyConvolution(const ProgramView &view, const plan::Convolution &c) {
  if (!plan::Convolution::Kind_IsValid(c.kind()))
    return Status::defect("its kind ", int(c.kind()), " does not exist");
  int spatial = c.input_shape_size() - 2;
  for (int size : {c.weight_shape_size() - 2, c.output_shape_size() - 2, c.strides_size(),
                   c.dilations_size(), c.pads_low_size(), c.pads_high_size()})
    if (size != spatial || spatial < 1)
      return Status::defect("its shapes, strides, dilations and pads differ in rank");
  if (c.groups() < 1 || c.weight_shape(1) * c.groups() != c.input_shape(1) ||
      c.weight_shape(0) != c.output_shape(1) || c.weight_shape(0) % c.groups() != 0 ||
      c.input_shape(0) != c.output_shape(0))
    return Status::defect("its batch, channels or groups do not agree");
  for (int i = 0; i < spatial; ++i) {
    if (c.strides(i) < 1 || c.dilations(i) < 1)
      return Status::defect("its strides and dilations must be at least 1");
    int64_t padded = c.input_shape(i + 2) + c.pads_low(i) + c.pads_high(i);
    int64_t window = c.dilations(i) * (c.weight_shape(i + 2) - 1) + 1;
    if (padded < window || (padded - window) / c.strides(i) + 1 != c.output_shape(i + 2))
      return Status::defect("its output's spatial dim ", i, " does not follow from its input");
  }
  uint32_t out = c.kind() == plan::Convolution::FORWARD          ? c.output()
                 : c.kind() == plan::Convolution::INPUT_GRADIENT ? c.input()
                                                                 : c.weight();
  for (uint32_t buffer : {c.input(), c.weight(), c.output()}) {
    if (at(view, buffer).dtype() != at(view, out).dtype())
      return Status::defect("its buffers differ in dtype");
    if (buffer != out && shareBytes(at(view, buffer), at(view, out)))
      return Status::defect("its result ", quoted(view, out), " overlaps its operand ",
                            quoted(view, buffer));
  }
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
  int64_t expected = sent;
  if (collective.kind() == plan::Collective::ALL_GATHER)
    expected = sent * ranks;
  if (collective.kind() == plan::Collective::REDUCE_SCATTER)
    expected = sent / ranks;
  bool chunks = collective.kind() == plan::Collective::REDUCE_SCATTER ||
                collective.kind() == plan::Collective::ALL_TO_ALL;
  if (received != expected || (chunks && sent % ranks != 0))
    return Status::defect("it sends ", sent, " elements of ", quoted(view, collective.send(i)),
                          " and receives ", received, " in ", quoted(view, collective.recv(i)),
                          ", which does not fit ", ranks, " ranks");
  bool same = collective.send(i) == collective.recv(i);
  bool inPlace = collective.kind() == plan::Collective::ALL_REDUCE;
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

Status verifyCollective(const ProgramView &view, const plan::Collective &collective) {
  if (!plan::Collective::Kind_IsValid(collective.kind()))
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
  if (collective.event() > view.program.events())
    return Status::defect("it signals event ", collective.event(), ", the program has ",
                          view.program.events());
  bool sends = collective.kind() == plan::Collective::SEND;
  bool receives = collective.kind() == plan::Collective::RECV;
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
                              plan::Role_Name(at(view, buffer).role()), ", not ",
                              plan::Role_Name(role));
}

Status verifyMetric(const ProgramView &view, const plan::Metric &metric) {
  const plan::Buffer &buffer = at(view, metric.buffer());
  if (elementCount(buffer.shape()) != 1 ||
      (buffer.dtype() != plan::F32 && buffer.dtype() != plan::F64))
    return Status::defect("its buffer ", quoted(view, metric.buffer()),
                          " is not an f32 or f64 scalar");
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
  case plan::Instruction::kCollective:
    return verifyCollective(view, instruction.collective());
  case plan::Instruction::kWait:
    return instruction.wait().event() >= 1 && instruction.wait().event() <= view.program.events()
               ? Status::ok()
               : Status::defect("it waits for event ", instruction.wait().event(),
                                ", the program has ", view.program.events());
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
  case plan::Instruction::kFill:
    return Status::ok();
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
      CLEAVE_TRY(verifyKind(view, instruction).withContext(view.instruction(s, i)));
    }
  if (view.program.events() > position)
    return Status::defect("rank ", view.rank, " has ", view.program.events(),
                          " events, more than instructions");
  for (const plan::ScheduleStep &step : view.program.schedule())
    if (step.segment() >= uint32_t(view.program.segments_size()))
      return Status::defect("rank ", view.rank, " schedules segment ", step.segment(), ", it has ",
                            view.program.segments_size());
  return Status::ok();
}

} // namespace cleave::artifact
