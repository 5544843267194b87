#include "passes/shard/Annotate.h"

#include "compiler/planner/model/ReadStep.h"
#include "dialects/graph/SignatureEdit.h"
#include "dialects/graph/Types.h"
#include "dialects/mesh/MeshDialect.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace cleave::shard {

// Emits the plan's remarks at their ops and arguments, in the category `planner`. Does nothing
// unless the context has a remark engine.
static void emitRemarks(func::FuncOp step, const planner::PlanReport &plan) {
  if (!step.getContext()->getRemarkEngine())
    return;
  SmallVector<Operation *> ops(graph::opsOf(step));
  for (const planner::PlanRemark &decision : plan.remarks) {
    Location location = decision.op >= 0         ? ops[decision.op]->getLoc()
                        : decision.argument >= 0 ? step.getArgument(decision.argument).getLoc()
                                                 : step.getLoc();
    remark::analysis(location, remark::RemarkOpts::name(decision.kind).category("planner"))
        << StringRef(decision.text);
  }
}

// The copies of every value as a dictionary from parts of the step to layouts; null without any.
static std::vector<DictionaryAttr> copyAttributes(const planner::Decisions &plan, size_t values,
                                                  MLIRContext *context) {
  std::vector<SmallVector<NamedAttribute>> layouts(values);
  for (const planner::CopyDecision &copy : plan.copies)
    layouts[copy.value].emplace_back(StringAttr::get(context, name(copy.part)),
                                     mesh::toAttribute(copy.layout, plan.mesh, context));
  std::vector<DictionaryAttr> attributes(values);
  for (size_t i = 0; i < values; ++i)
    if (!layouts[i].empty())
      attributes[i] = DictionaryAttr::get(context, layouts[i]);
  return attributes;
}

// States the copies and the buckets of an op's results.
static void annotateResults(Operation *op, const planner::OpDecision &decision,
                            ArrayRef<DictionaryAttr> copies) {
  Builder b(op->getContext());
  if (llvm::any_of(copies, [](DictionaryAttr layouts) { return layouts != nullptr; })) {
    SmallVector<Attribute> all;
    for (DictionaryAttr layouts : copies)
      all.push_back(layouts ? layouts : b.getDictionaryAttr({}));
    op->setAttr(mesh::kCopies, b.getArrayAttr(all));
  }
  if (!decision.buckets.empty())
    op->setAttr(mesh::kBuckets, b.getDenseI64ArrayAttr(SmallVector<int64_t>(
                                    decision.buckets.begin(), decision.buckets.end())));
}

void annotate(func::FuncOp step, const planner::PlanReport &plan) {
  emitRemarks(step, plan);
  annotate(step, static_cast<const planner::Decisions &>(plan));
}

void annotate(func::FuncOp step, const planner::Decisions &plan) {
  MLIRContext *context = step.getContext();
  step->getParentOfType<ModuleOp>()->setAttr(mesh::kMesh, mesh::toAttribute(plan.mesh, context));
  size_t values = step.getNumArguments();
  for (const planner::OpDecision &decision : plan.ops)
    values += decision.results.size();
  std::vector<DictionaryAttr> copies = copyAttributes(plan, values, context);
  size_t value = step.getNumArguments();
  for (auto [op, decision] : llvm::zip(graph::opsOf(step), plan.ops)) {
    mesh::Strategy strategy{decision.factors, decision.partial, decision.results};
    op->setAttr(mesh::kStrategy, mesh::toAttribute(strategy, plan.mesh, context));
    if (decision.isZigzag)
      op->setAttr(mesh::kZigzag, UnitAttr::get(context));
    annotateResults(op, decision, ArrayRef(copies).slice(value, op->getNumResults()));
    value += op->getNumResults();
  }
  graph::SignatureEdit signature(step);
  for (auto [i, decision] : llvm::enumerate(plan.arguments)) {
    signature.setArgAttr(i, mesh::kSharding,
                         mesh::toAttribute(decision.storage, plan.mesh, context));
    if (decision.compute != decision.storage)
      signature.setArgAttr(i, mesh::kCompute,
                           mesh::toAttribute(decision.compute, plan.mesh, context));
    if (decision.staysGathered)
      signature.setArgAttr(i, mesh::kStaysGathered, UnitAttr::get(context));
    if (copies[i])
      signature.setArgAttr(i, mesh::kCopies, copies[i]);
  }
  signature.commit();
}

namespace {

class AnnotationReader {
public:
  explicit AnnotationReader(func::FuncOp step) : step_(step) {}

  FailureOr<planner::Decisions> read() {
    mesh::MeshAttr attr = mesh::meshOf(step_);
    if (!attr)
      return step_.emitError("cannot be partitioned: the module has no attribute ") << mesh::kMesh;
    result_.mesh = mesh::toMesh(attr);
    for (unsigned i = 0; i < step_.getNumArguments(); ++i)
      if (failed(readArgument(i)))
        return failure();
    for (Operation *op : graph::opsOf(step_))
      if (failed(readOp(op)) || failed(readBuckets(op)) || failed(readCopiesOfResults(op)))
        return failure();
    return std::move(result_);
  }

private:
  // Adds the place and the axes of the mesh to a diagnostic.
  InFlightDiagnostic withMesh(InFlightDiagnostic diag) {
    diag.attachNote(step_->getParentOfType<ModuleOp>().getLoc())
        << "the mesh is " << mesh::meshOf(step_);
    return diag;
  }

  // A layout stated on argument i, or `otherwise` if there is none.
  FailureOr<Sharding> layoutOf(unsigned i, StringRef name, Sharding otherwise) {
    auto attr = step_.getArgAttrOfType<mesh::ShardingAttr>(i, name);
    if (!attr)
      return otherwise;
    std::optional<Sharding> sharding = mesh::toSharding(attr, result_.mesh);
    if (!sharding || sharding->dims.size() != otherwise.dims.size() || !sharding->partial.empty())
      return withMesh(step_.emitError("argument ")
                      << i << " has " << name << " " << attr << ", which is not a layout of "
                      << step_.getArgument(i).getType() << " on the module's mesh");
    return *sharding;
  }

  LogicalResult readArgument(unsigned i) {
    size_t rank = graph::rankOf(step_.getArgument(i));
    FailureOr<Sharding> storage = layoutOf(i, mesh::kSharding, Sharding::replicated(rank));
    if (failed(storage))
      return failure();
    FailureOr<Sharding> compute = layoutOf(i, mesh::kCompute, *storage);
    if (failed(compute))
      return failure();
    const bool staysGathered = bool(step_.getArgAttr(i, mesh::kStaysGathered));
    result_.arguments.push_back({*storage, *compute, staysGathered});
    return readCopies(step_.getArgAttr(i, mesh::kCopies), step_.getArgument(i),
                      [&] { return step_.emitError("argument ") << i; });
  }

  // The copies of the next value, `value`; `error` begins a diagnostic at its place.
  LogicalResult readCopies(Attribute attr, Value value,
                           llvm::function_ref<InFlightDiagnostic()> error) {
    const int number = values_++;
    if (!attr)
      return success();
    auto layouts = dyn_cast<DictionaryAttr>(attr);
    if (!layouts)
      return error() << " has " << mesh::kCopies << " " << attr
                     << ", expected layouts by part of the step";
    for (planner::Part part :
         {planner::Part::Forward, planner::Part::Backward, planner::Part::Update}) {
      Attribute stated = layouts.get(name(part));
      if (!stated)
        continue;
      auto layout = dyn_cast<mesh::ShardingAttr>(stated);
      std::optional<Sharding> plain =
          layout ? mesh::toSharding(layout, result_.mesh) : std::nullopt;
      if (!plain || plain->dims.size() != static_cast<size_t>(graph::rankOf(value)))
        return withMesh(error() << " has a copy in " << stated << ", which is not a layout of "
                                << value.getType() << " on the module's mesh");
      result_.copies.push_back({number, part, *plain});
    }
    return success();
  }

  LogicalResult readCopiesOfResults(Operation *op) {
    auto copies = op->getAttrOfType<ArrayAttr>(mesh::kCopies);
    if (copies && copies.size() != op->getNumResults())
      return op->emitOpError("has ") << mesh::kCopies << " of " << copies.size() << " results";
    for (auto [i, result] : llvm::enumerate(op->getResults()))
      if (failed(readCopies(copies ? copies[i] : Attribute(), result,
                            [&] { return op->emitOpError("result ") << i; })))
        return failure();
    return success();
  }

  // Of the op read last.
  LogicalResult readBuckets(Operation *op) {
    auto buckets = op->getAttrOfType<DenseI64ArrayAttr>(mesh::kBuckets);
    if (!buckets)
      return success();
    if (static_cast<unsigned>(buckets.size()) != op->getNumResults())
      return op->emitOpError("has ") << mesh::kBuckets << " of " << buckets.size() << " results";
    result_.ops.back().buckets.assign(buckets.asArrayRef().begin(), buckets.asArrayRef().end());
    return success();
  }

  // Results are partial only as the op leaves them: along the axes of its split reductions, and
  // along those of its partial operands.
  LogicalResult checkPartial(Operation *op, const FactorRule &rule,
                             const planner::OpDecision &decision) {
    for (auto [i, layout] : llvm::enumerate(decision.results)) {
      if (layout.partial.empty() || i >= op->getNumResults())
        continue;
      Sharding left = resultSharding(rule, i, decision.factors);
      llvm::append_range(left.partial, decision.partial);
      llvm::sort(left.partial);
      auto isLeft = [&](int axis) { return llvm::is_contained(left.partial, axis); };
      if (!llvm::all_of(layout.partial, isLeft) || layout.reduce != left.reduce)
        return withMesh(op->emitOpError("has a strategy with result ")
                        << i << " in the layout " << layout.str(result_.mesh)
                        << ", but leaves it in " << left.str(result_.mesh));
    }
    return success();
  }

  LogicalResult readOp(Operation *op) {
    auto interface = dyn_cast<graph::FactorRuleInterface>(op);
    if (!interface || !isa<graph::PartitionInterface>(op))
      return op->emitOpError("cannot be partitioned: it has no factor rule");
    FactorRule rule = interface.getFactorRule();
    planner::OpDecision decision{FactorAxes(rule.factors.size()), {}, {}};
    if (auto attr = op->getAttrOfType<mesh::StrategyAttr>(mesh::kStrategy)) {
      std::optional<mesh::Strategy> strategy = mesh::toStrategy(attr, result_.mesh);
      if (!strategy || strategy->factors.size() != rule.factors.size() ||
          !isValidSplit(rule, strategy->factors, result_.mesh))
        return withMesh(op->emitOpError("has a strategy that does not fit its factor rule ")
                        << rule.str());
      decision = {strategy->factors, strategy->partial, strategy->results};
      if (!decision.partial.empty() && !rule.linear)
        return op->emitOpError("has a strategy with partial operands, but is not linear");
    }
    if (failed(checkPartial(op, rule, decision)))
      return failure();
    for (unsigned i = decision.results.size(); i < op->getNumResults(); ++i)
      decision.results.push_back(Sharding::replicated(graph::rankOf(op->getResult(i))));
    for (auto [i, layout] : llvm::enumerate(decision.results))
      if (i >= op->getNumResults() ||
          layout.dims.size() != static_cast<size_t>(graph::rankOf(op->getResult(i))))
        return op->emitOpError("has a strategy with layouts that do not fit its results");
    decision.isZigzag = op->hasAttr(mesh::kZigzag);
    result_.ops.push_back(std::move(decision));
    return success();
  }

  func::FuncOp step_;
  planner::Decisions result_;
  int values_ = 0; // whose copies were read
};

} // namespace

FailureOr<planner::Decisions> readAnnotations(func::FuncOp step) {
  return AnnotationReader(step).read();
}

} // namespace cleave::shard
