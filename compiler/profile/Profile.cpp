// One walk over the step.
#include "compiler/profile/Profile.h"

#include "compiler/profile/Memory.h"
#include "compiler/profile/Names.h"
#include "dialects/graph/Macs.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/Symbols.h"
#include "runtime/base/Concat.h"

#include "llvm/ADT/StringSet.h"

#include <map>

using namespace mlir;

namespace cleave::profile {
namespace {

// All amounts of Amounts, for loops over them.
constexpr Polynomial Amounts::*kAmounts[] = {
    &Amounts::parameters,   &Amounts::parameterBytes, &Amounts::forwardMacs,
    &Amounts::backwardMacs, &Amounts::forwardFlops,   &Amounts::backwardFlops,
    &Amounts::updateFlops,  &Amounts::outputBytes,    &Amounts::savedBytes};

// The op's FLOPs, of an elementwise op one per element: its own FLOPs are weighted by duration.
Polynomial operationsOf(graph::CostInterface op) {
  Polynomial flops = op.getFlops();
  if (!isa<graph::PointwiseInterface>(op.getOperation()) || flops == Polynomial(0))
    return flops;
  return graph::elementCount(op->getResult(0).getType());
}

class Profiler {
public:
  explicit Profiler(func::FuncOp step) : step_(step), parts_(partsOf(step)), buffers_(step) {}

  Profile run() {
    Block &body = step_.getBody().front();
    for (BlockArgument argument : body.getArguments())
      addArgument(argument);
    for (Operation &op : body.without_terminator())
      addOp(&op);
    for (const Row &row : profile_.rows)
      profile_.total += row.costs;
    profile_.peaks = peaksOf(step_, buffers_);
    profile_.assumptions = graph::assumptionsOf(step_->getParentOfType<ModuleOp>());
    return std::move(profile_);
  }

private:
  void addArgument(BlockArgument argument) {
    unsigned i = argument.getArgNumber();
    const std::optional<Role> role = graph::argRole(step_, i);
    Polynomial bytes = graph::byteCount(argument.getType());
    if (role == Role::State)
      profile_.stateBytes += bytes;
    else if (role != Role::Parameter)
      profile_.inputBytes += bytes;
    if (graph::isTrainable(step_, i)) {
      profile_.gradientBytes += bytes;
      profile_.trains = true;
    }
  }

  void addOp(Operation *op) {
    auto cost = dyn_cast<graph::CostInterface>(op);
    if (!cost || isa<graph::AccumulateOp>(op) || buffers_.isConstant(op))
      return;
    StepPart part = parts_.lookup(op);
    Row &row = rowOf(op);
    Amounts &costs = row.costs;
    switch (part) {
    case StepPart::Forward:
      costs.forwardMacs += graph::macsOf(op);
      costs.forwardFlops += operationsOf(cost);
      addKind(row, op);
      addResults(op, costs);
      break;
    case StepPart::Backward:
      costs.backwardMacs += graph::macsOf(op);
      costs.backwardFlops += operationsOf(cost);
      break;
    case StepPart::Update:
      costs.updateFlops += operationsOf(cost);
      break;
    }
    for (Value operand : op->getOperands())
      addParameter(operand, costs);
  }

  Row &rowOf(Operation *op) {
    std::string module = moduleOf(op), name = nodeOf(op);
    auto [entry, isNew] = index_.try_emplace({module, name}, profile_.rows.size());
    if (isNew)
      profile_.rows.push_back({module, name, {}, {}});
    return profile_.rows[entry->second];
  }

  // Adds the op to the kinds of a row, each once. Broadcasts are omitted.
  void addKind(Row &row, Operation *op) {
    if (isa<graph::BroadcastOp>(op))
      return;
    StringRef kind = op->getName().stripDialect();
    if (kinds_.insert(concat(&row - profile_.rows.data(), " ", kind)).second)
      row.kind += (row.kind.empty() ? "" : "+") + kind.str();
  }

  void addResults(Operation *op, Amounts &costs) {
    for (Value result : op->getResults()) {
      if (buffers_.of(result) != result)
        continue;
      costs.outputBytes += graph::byteCount(result.getType());
      if (isSaved(result))
        costs.savedBytes += graph::byteCount(result.getType());
    }
  }

  // Whether the backward pass reads the buffer of `value`, directly or through views.
  bool isSaved(Value value) const {
    llvm::SmallVector<Value> names = {value};
    while (!names.empty())
      for (Operation *user : names.pop_back_val().getUsers()) {
        auto part = parts_.find(user);
        if (part == parts_.end())
          continue; // the terminator
        if (part->second == StepPart::Backward)
          return true;
        if (isa<graph::ReshapeOp>(user))
          names.push_back(user->getResult(0));
      }
    return false;
  }

  void addParameter(Value operand, Amounts &costs) {
    auto argument = dyn_cast<BlockArgument>(operand);
    if (!argument || !seen_.insert(argument).second)
      return;
    unsigned i = argument.getArgNumber();
    if (graph::argRole(step_, i) != Role::Parameter)
      return;
    costs.parameters += graph::elementCount(argument.getType());
    costs.parameterBytes += graph::byteCount(argument.getType());
  }

  func::FuncOp step_;
  llvm::DenseMap<Operation *, StepPart> parts_;
  Buffers buffers_;
  Profile profile_;
  std::map<std::pair<std::string, std::string>, size_t> index_; // module, node -> row
  llvm::StringSet<> kinds_;    // `ROW KIND` pairs that addKind has added
  llvm::DenseSet<Value> seen_; // arguments that a row reads
};

} // namespace

Amounts &Amounts::operator+=(const Amounts &other) {
  for (auto amount : kAmounts)
    this->*amount += other.*amount;
  return *this;
}

Profile Profile::substitute(const Polynomial::Binding &binding) const {
  Profile out = *this;
  auto replace = [&](Polynomial &amount) { amount = amount.substitute(binding); };
  for (Row &row : out.rows)
    for (auto amount : kAmounts)
      replace(row.costs.*amount);
  for (auto amount : kAmounts)
    replace(out.total.*amount);
  for (Polynomial *amount : {&out.inputBytes, &out.stateBytes, &out.gradientBytes})
    replace(*amount);
  for (Peak &peak : out.peaks)
    replace(peak.bytes);
  for (Polynomial &notNegative : out.assumptions)
    replace(notNegative);
  llvm::erase_if(out.assumptions,
                 [](const Polynomial &size) { return size.constant().value_or(-1) >= 0; });
  return out;
}

Profile profileStep(func::FuncOp step) { return Profiler(step).run(); }

} // namespace cleave::profile
