// One visit per op; buffers, kernels and tensors are numbered in program order.
#include "compiler/artifact/ExportPlan.h"

#include "compiler/artifact/ExportKernel.h"
#include "compiler/artifact/ExportTensor.h"
#include "dialects/graph/KnownStrings.h"
#include "dialects/mesh/MeshDialect.h"
#include "dialects/program/Program.h"
#include "runtime/artifact/Enums.h"
#include "runtime/artifact/Mesh.h"
#include "runtime/artifact/Programs.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"

#include <map>

using namespace mlir;

namespace cleave::artifact {

static bool usesSpace(program::ProgramOp program, Space space) {
  return llvm::any_of(program.getBody().front().getOps<program::BufferOp>(),
                      [&](program::BufferOp buffer) { return buffer.getSpace() == space; });
}

namespace {

void exportTensor(program::TensorOp tensor, plan::Tensor *out) {
  out->set_name(tensor.getName().str());
  auto type = cast<RankedTensorType>(tensor.getType());
  out->set_dtype(dtypeOf(type.getElementType()));
  out->mutable_shape()->Assign(type.getShape().begin(), type.getShape().end());
  out->set_role(toFile(tensor.getRole()));
  for (Attribute dim : tensor.getDims()) {
    plan::DimSharding *sharding = out->add_sharding();
    for (Attribute axis : cast<ArrayAttr>(dim))
      sharding->add_axes(static_cast<uint32_t>(cast<IntegerAttr>(axis).getInt()));
  }
  if (tensor.getParameter())
    out->set_parameter(tensor.getParameter()->str());
  if (tensor.getVocabulary())
    out->set_vocabulary(static_cast<int64_t>(*tensor.getVocabulary()));
  if (tensor.getLowest())
    out->set_lowest(static_cast<int64_t>(*tensor.getLowest()));
  if (tensor.getIgnored())
    out->set_ignored(static_cast<int64_t>(*tensor.getIgnored()));
  if (tensor.getLabel())
    out->set_is_label(true);
  if (tensor.getAllOf())
    out->set_all_of(tensor.getAllOf()->str());
  if (tensor.getOrigin())
    *out->mutable_source() = sourceOf(*tensor.getOrigin());
}

// The shapes and the window of a convolution.
void setWindow(program::ConvolutionOp conv, plan::Convolution &out) {
  auto assign = [](auto *to, ArrayRef<int64_t> from) { to->Assign(from.begin(), from.end()); };
  assign(out.mutable_input_shape(), conv.getInputShape());
  assign(out.mutable_weight_shape(), conv.getWeightShape());
  assign(out.mutable_output_shape(), conv.getOutputShape());
  assign(out.mutable_strides(), conv.getStrides());
  assign(out.mutable_dilations(), conv.getDilations());
  assign(out.mutable_pads_low(), conv.getPadsLow());
  assign(out.mutable_pads_high(), conv.getPadsHigh());
  out.set_groups(conv.getGroups());
}

void addSchedule(ArrayRef<int64_t> schedule, plan::Program &out) {
  for (size_t i = 0; i < schedule.size(); i += 2) {
    plan::ScheduleStep *step = out.add_schedule();
    step->set_segment(static_cast<uint32_t>(schedule[i]));
    step->set_slot(static_cast<uint32_t>(schedule[i + 1]));
  }
}

class Exporter {
public:
  Exporter(ModuleOp module, plan::Plan &plan, bool isComplete)
      : module_(module), plan_(plan), isComplete_(isComplete) {}

  Status run() {
    if (mesh::MeshAttr attr = mesh::meshOf(module_))
      setMesh(mesh::toMesh(attr), plan_);
    for (auto tensor : module_.getOps<program::TensorOp>())
      exportTensor(tensor, plan_.add_tensors());
    auto programs = module_.getOps<program::ProgramOp>();
    if (programs.empty())
      return Status::defect("the module holds no program to write to a plan");
    for (program::ProgramOp program : programs)
      CLEAVE_TRY(addProgram(program));
    addKnownTexts();
    return Status::ok();
  }

private:
  void addKnownTexts() {
    for (const graph::KnownStrings &known : graph::knownStringsOf(module_)) {
      plan::KnownTexts *out = plan_.add_known_texts();
      out->set_name(known.name);
      out->mutable_shape()->Add(known.shape.begin(), known.shape.end());
      out->mutable_elements()->Add(known.elements.begin(), known.elements.end());
    }
  }

  // Adds the kernels that the program launches.
  Status addKernels(program::ProgramOp program) {
    kernels_.clear();
    llvm::DenseSet<Attribute> launched;
    program.walk(
        [&](program::LaunchOp launch) { launched.insert(launch.getKernelAttr().getAttr()); });
    for (auto kernel : module_.getOps<program::KernelOp>())
      if (launched.contains(kernel.getSymNameAttr()))
        CLEAVE_TRY(addKernel(kernel));
    return Status::ok();
  }

  Status addKernel(program::KernelOp kernel) {
    if (isComplete_ && !kernel.getExtent())
      return Status::defect("kernel '", kernel.getSymName().str(), "' has not been compiled");
    kernels_[kernel.getSymNameAttr()] = static_cast<uint32_t>(out_->kernels_size());
    *out_->add_kernels() = exportKernel(kernel);
    return Status::ok();
  }

  Status addProgram(program::ProgramOp program) {
    out_ = plan_.add_programs();
    buffers_.clear();
    out_->set_name(program::stringifyKind(program.getKind()).str());
    out_->set_kind(static_cast<plan::Program::Kind>(program.getKind()));
    setRanks(*out_, rankCount(plan_));
    if (std::optional<ArrayRef<int64_t>> ranks = program.getRanks())
      out_->mutable_ranks()->Assign(ranks->begin(), ranks->end());
    out_->set_no_padding(program.getNoPadding().value_or("").str());
    CLEAVE_TRY(addKernels(program));
    addArenas(program);
    for (Operation &op : program.getBody().front())
      if (auto buffer = dyn_cast<program::BufferOp>(op))
        addBuffer(buffer);
      else if (auto segment = dyn_cast<program::SegmentOp>(op))
        addSegment(segment);
    addSchedule(program.getSchedule(), *out_);
    return Status::ok();
  }

  // Where buffers have no places yet, the arenas have no bytes.
  void addArenas(program::ProgramOp program) {
    arenas_.clear();
    for (Space space : kSpaces) {
      const program::ArenaAttr arena = program.arenaIn(space);
      if (!arena && !usesSpace(program, space))
        continue;
      arenas_[space] = static_cast<uint32_t>(out_->arenas_size());
      plan::Arena *out = out_->add_arenas();
      out->set_space(static_cast<plan::Space>(space));
      out->set_bytes(arena ? arena.getBytes() : 0);
      out->set_peak_bytes(arena ? arena.getPeak() : 0);
    }
  }

  void addBuffer(program::BufferOp buffer) {
    buffers_[buffer.getResult()] = static_cast<uint32_t>(out_->buffers_size());
    plan::Buffer *out = out_->add_buffers();
    auto type = cast<RankedTensorType>(buffer.getType());
    out->set_name(buffer.getName().str());
    out->set_arena(arenas_[buffer.getSpace()]);
    out->set_offset(buffer.getOffset());
    out->set_bytes(buffer.getBytes());
    out->set_dtype(dtypeOf(type.getElementType()));
    out->mutable_shape()->Assign(type.getShape().begin(), type.getShape().end());
    out->set_role(toFile(buffer.getRole()));
    out->set_first(static_cast<uint32_t>(buffer.getFirst()));
    out->set_last(static_cast<uint32_t>(buffer.getLast()));
    out->set_tensor(static_cast<int32_t>(buffer.getTensor()));
  }

  void addSegment(program::SegmentOp segment) {
    plan::Segment *out = out_->add_segments();
    out->set_name(segment.getName().str());
    for (Operation &op : segment.getBody().front())
      addInstruction(&op, *out->add_instructions());
  }

  void addInstruction(Operation *op, plan::Instruction &out) {
    if (auto source = op->getAttrOfType<StringAttr>("source"))
      out.set_name(source.str());
    if (auto seconds = op->getAttrOfType<FloatAttr>("seconds"))
      out.set_seconds(seconds.getValueAsDouble());
    if (auto queue = op->getAttrOfType<IntegerAttr>("queue"))
      out.set_queue(static_cast<uint32_t>(queue.getInt()));
    if (auto waits = op->getAttrOfType<DenseI64ArrayAttr>("waits"))
      out.mutable_waits()->Add(waits.asArrayRef().begin(), waits.asArrayRef().end());
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](program::LaunchOp launch) { setLaunch(launch, *out.mutable_launch()); })
        .Case([&](program::MatmulOp matmul) { setMatmul(matmul, *out.mutable_matmul()); })
        .Case(
            [&](program::ConvolutionOp conv) { setConvolution(conv, *out.mutable_convolution()); })
        .Case([&](program::AttentionOp attention) {
          setAttention(attention, *out.mutable_attention());
        })
        .Case([&](program::GroupedMatmulOp matmul) {
          setGroupedMatmul(matmul, *out.mutable_grouped_matmul());
        })
        .Case([&](program::CollectiveOp collective) {
          setCollective(collective, *out.mutable_collective());
        })
        .Case([&](program::SendOp send) {
          plan::Collective &message = *out.mutable_collective();
          setMessage(CollectiveKind::Send, send, message);
          for (Value buffer : send.getBuffers())
            message.add_send(number(buffer));
        })
        .Case([&](program::RecvOp recv) {
          plan::Collective &message = *out.mutable_collective();
          setMessage(CollectiveKind::Recv, recv, message);
          for (Value buffer : recv.getBuffers())
            message.add_recv(number(buffer));
        })
        .Case([&](program::CopyOp copy) {
          out.mutable_copy()->set_from(number(copy.getFrom()));
          out.mutable_copy()->set_to(number(copy.getTo()));
        })
        .Case([&](program::FillOp fill) {
          out.mutable_fill()->set_buffer(number(fill.getBuffer()));
          out.mutable_fill()->set_value(fill.getValue().convertToDouble());
        })
        .Case([&](program::LoadInputOp load) {
          out.mutable_load_input()->set_buffer(number(load.getBuffer()));
          out.mutable_load_input()->set_early(load.getEarly());
        })
        .Case([&](program::StoreOutputOp store) {
          out.mutable_store_output()->set_buffer(number(store.getBuffer()));
        })
        .Case([&](program::MetricOp metric) {
          out.mutable_metric()->set_name(metric.getName().str());
          out.mutable_metric()->set_buffer(number(metric.getBuffer()));
        });
  }

  uint32_t number(Value buffer) const { return buffers_.lookup(buffer); }

  void setLaunch(program::LaunchOp launch, plan::Launch &out) {
    out.set_kernel(kernels_.lookup(launch.getKernelAttr().getAttr()));
    for (Value buffer : launch.getBuffers())
      out.add_buffers(number(buffer));
    for (int64_t position : launch.getWritten())
      out.add_written(static_cast<uint32_t>(position));
  }

  void setMatmul(program::MatmulOp matmul, plan::Matmul &out) {
    out.mutable_batch()->Assign(matmul.getBatch().begin(), matmul.getBatch().end());
    out.set_m(matmul.getM());
    out.set_n(matmul.getN());
    out.set_k(matmul.getK());
    setOperand(*out.mutable_lhs(), matmul.getLhs(), matmul.getLhsView());
    setOperand(*out.mutable_rhs(), matmul.getRhs(), matmul.getRhsView());
    setOperand(*out.mutable_out(), matmul.getOut(), matmul.getOutView());
    out.set_accumulate(matmul.getAccumulate());
    out.set_tf32(matmul.getTf32());
    if (Value bias = matmul.getBias())
      out.add_bias(number(bias));
    if (Value workspace = matmul.getWorkspace())
      out.add_workspace(number(workspace));
  }

  void setOperand(plan::StridedOperand &to, Value buffer, program::ViewAttr view) const {
    to.set_buffer(number(buffer));
    to.set_offset(view.getOffset());
    to.mutable_strides()->Assign(view.getStrides().begin(), view.getStrides().end());
  }

  void setConvolution(program::ConvolutionOp conv, plan::Convolution &out) {
    out.set_kind(static_cast<plan::Convolution::Kind>(conv.getKind()));
    out.set_input(number(conv.getInput()));
    out.set_weight(number(conv.getWeight()));
    out.set_output(number(conv.getOutput()));
    setWindow(conv, out);
    out.set_tf32(conv.getTf32());
    out.set_channels_last(conv.getChannelsLast());
    if (Value workspace = conv.getWorkspace())
      out.add_workspace(number(workspace));
  }

  void setGroupedMatmul(program::GroupedMatmulOp matmul, plan::GroupedMatmul &out) {
    out.set_weight_gradient(matmul.getWeightGradient());
    out.set_rows(matmul.getRows()), out.set_groups(matmul.getGroups());
    out.set_inputs(matmul.getInputs()), out.set_outputs(matmul.getOutputs());
    setOperand(*out.mutable_input(), matmul.getInput(), matmul.getInputView());
    setOperand(*out.mutable_weight(), matmul.getWeight(), matmul.getWeightView());
    setOperand(*out.mutable_output(), matmul.getOutput(), matmul.getOutputView());
    out.set_ends(number(matmul.getEnds()));
    out.set_whole_rows(matmul.getWholeRows()), out.set_whole_groups(matmul.getWholeGroups());
    if (Value row = matmul.getFirstRow())
      out.add_first_row(number(row));
    if (Value group = matmul.getFirstGroup())
      out.add_first_group(number(group));
  }

  void setAttention(program::AttentionOp attention, plan::Attention &out) {
    out.mutable_batch()->Assign(attention.getBatch().begin(), attention.getBatch().end());
    out.set_heads(attention.getHeads()), out.set_groups(attention.getGroups());
    out.set_queries(attention.getQueries()), out.set_keys(attention.getKeys());
    out.set_width(attention.getWidth()), out.set_depth(attention.getDepth());
    setAttentionTensors(attention, out);
    out.set_scale(attention.getScale().convertToDouble());
    out.set_fill(attention.getFill().convertToDouble());
    out.set_causal(attention.getCausal());
    out.set_safe(attention.getSafe());
    out.set_mirrored(attention.getMirrored());
    if (Value seed = attention.getSeed()) {
      out.add_seed(number(seed));
      out.set_drop_rate(attention.getDropRate()->convertToDouble());
    }
    for (Value offset : attention.getOffsets())
      out.add_offsets(number(offset));
    for (int64_t dim : attention.getOffsetDims().value_or(ArrayRef<int64_t>()))
      out.add_offset_dims(static_cast<uint32_t>(dim));
    for (int64_t size : attention.getWhole().value_or(ArrayRef<int64_t>()))
      out.add_whole(size);
    if (Value scratch = attention.getScratch())
      out.add_scratch(number(scratch));
    if (Value workspace = attention.getWorkspace())
      out.add_workspace(number(workspace));
  }

  void setAttentionTensors(program::AttentionOp attention, plan::Attention &out) {
    auto tensors = attention.getTensors();
    const auto *next = tensors.begin();
    auto set = [&](auto mutableField, Value buffer) {
      if (!buffer)
        return;
      setOperand(*(out.*mutableField)(), buffer, next->view);
      ++next;
    };
    set(&plan::Attention::mutable_query, attention.getQuery());
    set(&plan::Attention::mutable_key, attention.getKey());
    set(&plan::Attention::mutable_value, attention.getValue());
    set(&plan::Attention::mutable_result, attention.getResult());
    set(&plan::Attention::mutable_lse, attention.getLse());
    set(&plan::Attention::mutable_bias, attention.getBias());
    set(&plan::Attention::mutable_mask, attention.getMask());
    set(&plan::Attention::mutable_grad, attention.getGrad());
    set(&plan::Attention::mutable_query_grad, attention.getQueryGrad());
    set(&plan::Attention::mutable_key_grad, attention.getKeyGrad());
    set(&plan::Attention::mutable_value_grad, attention.getValueGrad());
  }

  void setCollective(program::CollectiveOp collective, plan::Collective &out) {
    out.set_kind(toFile(collective.getKind()));
    for (int64_t axis : collective.getAxes())
      out.add_axes(static_cast<uint32_t>(axis));
    for (int64_t axis : collective.getToAxes().value_or(ArrayRef<int64_t>()))
      out.add_to_axes(axis);
    out.set_reversed(collective.getReversed());
    out.set_reduce(static_cast<plan::Reduce>(collective.getReduce()));
    for (Value buffer : collective.getSend())
      out.add_send(number(buffer));
    for (Value buffer : collective.getRecv())
      out.add_recv(number(buffer));
  }

  template <typename Op> void setMessage(CollectiveKind kind, Op op, plan::Collective &out) {
    out.set_kind(toFile(kind));
    out.add_axes(static_cast<uint32_t>(op.getAxis()));
    out.set_peer(static_cast<uint32_t>(op.getPeer()));
  }

  ModuleOp module_;
  plan::Plan &plan_;
  bool isComplete_;
  plan::Program *out_ = nullptr; // the current program; its buffers and kernels by their numbers
  llvm::DenseMap<Value, uint32_t> buffers_;
  std::map<Space, uint32_t> arenas_; // of the program
  llvm::DenseMap<Attribute, uint32_t> kernels_;
};

} // namespace

// A training step reports its loss; inference reports nothing.
static bool reportsMetric(const plan::Program &program) {
  return llvm::any_of(program.segments(), [](const plan::Segment &segment) {
    return llvm::any_of(segment.instructions(), [](const plan::Instruction &instruction) {
      return instruction.has_metric();
    });
  });
}

Result<plan::Plan> exportPlan(ModuleOp module, const std::string &device,
                              std::vector<plan::Module> modules) {
  plan::Plan plan;
  CLEAVE_TRY(Exporter(module, plan, /*isComplete=*/true).run());
  plan.set_device(device);
  for (plan::Module &code : modules)
    *plan.add_modules() = std::move(code);
  plan.set_trains(reportsMetric(stepOf(plan, 0)));
  return plan;
}

Result<plan::Plan> exportOutline(ModuleOp module) {
  plan::Plan plan;
  CLEAVE_TRY(Exporter(module, plan, /*isComplete=*/false).run());
  return plan;
}

} // namespace cleave::artifact
