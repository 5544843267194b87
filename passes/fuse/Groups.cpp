// Forming groups: greedy merging along edges and between readers of one value, under the rules of
// Groups.h.
#include "passes/fuse/Groups.h"

#include "compiler/analysis/Identity.h"
#include "compiler/analysis/IterationSpace.h"
#include "dialects/graph/Cost.h"
#include "dialects/graph/Step.h"
#include "dialects/program/Program.h"

using namespace mlir;

namespace cleave::fuse {

namespace {

// Keeps the compile time of one kernel in bounds. Thousands of pointwise ops become groups of this
// size, whose results cost little memory traffic beside so many ops.
constexpr size_t kMostMembers = 64;

// The ops of a group: its compute ops and the clonable ops that they read.
SmallVector<Operation *> opsOf(ArrayRef<Operation *> computeOps) {
  SmallVector<Operation *> ops, stack;
  llvm::DenseSet<Operation *> seen;
  for (Operation *computeOp : computeOps) {
    ops.push_back(computeOp);
    stack.push_back(computeOp);
    while (!stack.empty())
      for (Value operand : stack.pop_back_val()->getOperands())
        if (Operation *op = operand.getDefiningOp();
            op && isClonable(op) && seen.insert(op).second) {
          ops.push_back(op);
          stack.push_back(op);
        }
  }
  return ops;
}

// Whether the reduction is a row (G3): over the last dims of its operand, but not all, with at most
// kRowElements elements.
bool isRow(graph::ReduceOp reduce) {
  graph::Shape shape = graph::shapeOf(reduce.getOperand());
  Polynomial elements(1);
  bool leavesSome = false, reducedBefore = false;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] == Polynomial(1))
      continue;
    bool reduced = llvm::is_contained(reduce.getDims(), static_cast<int64_t>(dim));
    if (!reduced && reducedBefore)
      return false;
    leavesSome |= !reduced;
    reducedBefore |= reduced;
    if (reduced)
      elements *= shape[dim];
  }
  std::optional<int64_t> count = elements.constant();
  return leavesSome && count && *count <= kRowElements;
}

// Whether the reduction is a column (G4): over the first dim of its operand, but not the last one.
bool isColumn(graph::ReduceOp reduce) {
  const graph::Shape shape = graph::shapeOf(reduce.getOperand());
  SmallVector<int64_t> dims; // not of size one
  for (size_t dim = 0; dim < shape.size(); ++dim)
    if (shape[dim] != Polynomial(1))
      dims.push_back(static_cast<int64_t>(dim));
  return !dims.empty() && llvm::is_contained(reduce.getDims(), dims.front()) &&
         !llvm::is_contained(reduce.getDims(), dims.back());
}

// Whether all values have their factors in the order of `reference`, also in memory: none is a
// transpose.
bool isInOrder(const analysis::IterationSpace &space, Value reference) {
  const SmallVector<int> &order = space.dims.find(reference)->second;
  return llvm::all_of(space.dims, [&](const auto &entry) {
    if (entry.first.template getDefiningOp<graph::TransposeOp>())
      return false;
    const auto *at = order.begin();
    return llvm::all_of(entry.second, [&](int factor) {
      if (factor >= 0)
        at = std::find(at, order.end(), factor);
      return at != order.end();
    });
  });
}

// Whether the operand, of this shape, adds nothing to the iteration space of its reader: it is read
// as it is, is a splat, or repeats a value of lower rank that nothing else repeats.
bool isReadAlong(Value operand, const graph::Shape &shape) {
  if (graph::splatValue(operand))
    return true;
  if (graph::shapeOf(operand) != shape)
    return false;
  Operation *op = operand.getDefiningOp();
  if (!op || !isClonable(op))
    return true;
  if (!isa<graph::BroadcastOp>(op))
    return false;
  Value source = op->getOperand(0);
  bool isRead = !source.getDefiningOp() || !isClonable(source.getDefiningOp());
  return isRead && static_cast<size_t>(graph::rankOf(source)) < shape.size() &&
         llvm::count_if(source.getUsers(), isClonable) == 1;
}

// The shape of the op and of all that it reads; nothing if they differ or the op reduces.
std::optional<graph::Shape> evenShapeOf(Operation *op) {
  if (!isa<graph::PointwiseInterface>(op) || op->getNumResults() != 1)
    return std::nullopt;
  graph::Shape shape = graph::shapeOf(op->getResult(0));
  bool isEven = llvm::all_of(op->getOperands(), [&](Value v) { return isReadAlong(v, shape); });
  return isEven ? std::optional(shape) : std::nullopt;
}

using Factors = SmallVector<int>;

bool isSubset(const Factors &part, const Factors &whole) {
  return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

// Whether one of the ops reads the value, directly or through clonable ops.
bool isReadBy(ArrayRef<Operation *> ops, Value value) {
  return llvm::any_of(ops, [&](Operation *op) {
    return llvm::any_of(op->getOperands(), [&](Value v) { return sourceOf(v) == value; });
  });
}

// Whether the columns may be reduced beside rows that reduce the factors `row` (G2).
bool canSweep(ArrayRef<Operation *> computeOps, ArrayRef<graph::ReduceOp> columns,
              const Factors &row, const analysis::IterationSpace &space) {
  if (columns.size() > kColumnSums || row.size() != 1)
    return false;
  const std::optional<int64_t> elements = space.sizes[row.front()].constant();
  if (!elements || *elements > kSweptElements)
    return false;
  // Rows with iotas cannot be split into parts: one block would sweep over all of them.
  for (const auto &[value, dims] : space.dims)
    if (value.getDefiningOp<graph::IotaOp>() && space.factorsOf(value) != row)
      return false;
  return llvm::all_of(columns, [&](graph::ReduceOp column) {
    Factors both = space.reduced.lookup(column);
    llvm::append_range(both, row);
    llvm::sort(both);
    return both == space.factorsOf(column.getOperand()) && isInOrder(space, column.getOperand()) &&
           !isReadBy(computeOps, column.getResult());
  });
}

} // namespace

bool isClonable(Operation *op) {
  return op->hasTrait<graph::Clonable>() && analysis::isGroupable(op);
}

bool isComputeOp(Operation *op) { return op->hasTrait<graph::ComputeOp>(); }

bool isProperAlone(Operation *computeOp) {
  return analysis::iterationSpaceOf(opsOf(computeOp)).isProper();
}

Value sourceOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isClonable(op))
      break;
    if (op->getNumOperands() == 0)
      return {};
    value = op->getOperand(0);
  }
  return value;
}

Groups::Groups(func::FuncOp step) : isForGpus_(program::isForGpus(step)) {
  // In a step of one micro-batch all ops run once.
  if (graph::isStage(step) || !step.getOps<graph::AccumulateOp>().empty())
    parts_ = graph::partsOf(step);
  for (Operation &op : step.getBody().front()) {
    position_[&op] = static_cast<int>(ops_.size());
    ops_.push_back(&op);
    groupOf_.push_back(-1);
    if (!isComputeOp(&op))
      continue;
    groupOf_.back() = static_cast<int>(groups_.size());
    groups_.push_back({{static_cast<int>(ops_.size()) - 1}, {}, {groupOf_.back()}});
    even_.push_back(evenShapeOf(&op));
  }
  std::vector<SmallVector<int>> readers(ops_.size());
  for (auto [position, op] : llvm::enumerate(ops_))
    for (Value result : op->getResults())
      llvm::append_range(readers[position], readersOf(result));
  graph_ = AcyclicGraph(std::move(readers));
  clonables_.resize(ops_.size());
  for (const Group &group : groups_)
    for (int position : group.members) // one as yet
      llvm::append_range(clonables_[position], llvm::drop_begin(opsOf(ops_[position])));
}

SmallVector<Operation *> Groups::withClonables(ArrayRef<int> computeOps) const {
  SmallVector<Operation *> ops;
  llvm::SmallPtrSet<Operation *, 32> seen;
  for (int position : computeOps) {
    ops.push_back(ops_[position]);
    for (Operation *clonable : clonables_[position])
      if (seen.insert(clonable).second)
        ops.push_back(clonable);
  }
  return ops;
}

SmallVector<int> Groups::computeOpsOf(const Group &group) const {
  SmallVector<int> computeOps = group.members;
  llvm::append_range(computeOps, group.recomputed);
  llvm::sort(computeOps);
  return computeOps;
}

bool Groups::isIn(Operation *op, const Group &group) const {
  int position = position_.lookup(op);
  return std::binary_search(group.members.begin(), group.members.end(), position) ||
         llvm::is_contained(group.recomputed, position);
}

SmallVector<int> Groups::readersOf(Value value) const {
  SmallVector<int> readers;
  SmallVector<Value> stack = {value};
  while (!stack.empty())
    for (Operation *user : stack.pop_back_val().getUsers())
      if (isClonable(user))
        stack.push_back(user->getResult(0));
      else
        readers.push_back(position_.lookup(user));
  llvm::sort(readers);
  readers.erase(llvm::unique(readers), readers.end());
  return readers;
}

SmallVector<int> Groups::groupsWith(int computeOp) const {
  SmallVector<int> groups = {groupOf_[computeOp]};
  if (auto it = recomputedIn_.find(computeOp); it != recomputedIn_.end())
    llvm::append_range(groups, it->second);
  return groups;
}

bool Groups::isRead(Value value, const Group &group) const {
  for (int position : graph_.readersOf(position_.at(value.getDefiningOp()))) {
    if (groupOf_[position] < 0)
      return true;
    for (int reader : groupsWith(position))
      if (!llvm::is_contained(group.numbers, reader) &&
          !isIn(value.getDefiningOp(), groups_[reader]))
        return true;
  }
  return false;
}

bool Groups::obeysRules(const Group &group) const {
  const SmallVector<int> positions = computeOpsOf(group);
  work_ += positions.size();
  if (positions.size() > kMostMembers)
    return false;
  SmallVector<Operation *> computeOps;
  llvm::DenseSet<Operation *> given;
  std::string identity = analysis::identityOf(withClonables(positions));
  for (int position : positions) {
    Operation *op = ops_[position];
    computeOps.push_back(op);
    const bool isGiven =
        llvm::is_contained(group.members, position) && isRead(op->getResult(0), group);
    if (isGiven)
      given.insert(op);
    identity += isGiven ? 'g' : 'i';
  }
  auto [answer, isNew] = obeys_.try_emplace(std::move(identity), false);
  if (isNew)
    answer->second =
        isOneKernel(computeOps, [&](Operation *op) { return given.contains(op); }, isForGpus_);
  return answer->second;
}

bool isOneKernel(ArrayRef<Operation *> computeOps, llvm::function_ref<bool(Operation *)> isGiven,
                 bool isForGpus) {
  if (computeOps.size() > kMostMembers)
    return false;
  SmallVector<Operation *> ops = opsOf(computeOps);
  analysis::IterationSpace space = analysis::iterationSpaceOf(ops);
  if (!space.isProper())
    return false;
  Factors all, reduced;
  SmallVector<graph::ReduceOp> beside; // columns beside rows
  bool reduces = false, rows = true, columns = isForGpus, usedInside = false;
  const bool hasRows = isForGpus && llvm::any_of(computeOps, [](Operation *op) {
                         auto reduce = dyn_cast<graph::ReduceOp>(op);
                         return reduce && isRow(reduce);
                       });
  for (Operation *op : computeOps)
    for (Value value : {Value(op->getOperand(0)), Value(op->getResult(0))})
      llvm::append_range(all, space.factorsOf(value));
  llvm::sort(all);
  all.erase(llvm::unique(all), all.end());
  for (Operation *op : computeOps) {
    auto reduce = dyn_cast<graph::ReduceOp>(op);
    if (!reduce)
      continue;
    if (hasRows && isColumn(reduce)) {
      beside.push_back(reduce);
      continue;
    }
    Factors mine = space.reduced.lookup(op);
    llvm::sort(mine);
    if ((reduces && mine != reduced) || space.factorsOf(reduce.getOperand()) != all)
      return false;
    reduced = mine;
    reduces = true;
    rows &= isRow(reduce);
    columns &= isColumn(reduce) && isInOrder(space, reduce.getOperand());
    usedInside |= isReadBy(computeOps, reduce.getResult());
  }
  if (usedInside && !rows)
    return false;
  if (!beside.empty() && !(rows && canSweep(computeOps, beside, reduced, space)))
    return false;
  Factors kept;
  std::set_difference(all.begin(), all.end(), reduced.begin(), reduced.end(),
                      std::back_inserter(kept));
  for (Operation *op : computeOps) {
    Factors factors = space.factorsOf(op->getResult(0));
    bool isFull = factors == all && (!reduces || rows || columns),
         isKept = (reduces && factors == kept) || llvm::is_contained(beside, op);
    if (isGiven(op) ? !(isFull || isKept)
                    : !(factors == all || isKept || factors.empty() || !graph::isCostly(op)))
      return false;
    if (!isSubset(factors, all))
      return false;
  }
  return true;
}

const Groups::Touched &Groups::touchedBy(int group) {
  touched_.resize(groups_.size());
  std::optional<Touched> &touched = touched_[group];
  if (touched)
    return *touched;
  const SmallVector<int> members = computeOpsOf(groups_[group]);
  work_ += members.size();
  const analysis::IterationSpace space = analysis::iterationSpaceOf(withClonables(members));
  touched.emplace();
  for (const auto &[value, dims] : space.dims)
    if (Factors factors = space.factorsOf(value); !factors.empty())
      touched->factors[value] = std::move(factors);
  for (int member : members)
    if (auto reduce = dyn_cast<graph::ReduceOp>(ops_[member]))
      llvm::append_range(touched->reduced, space.factorsOf(reduce.getOperand()));
  llvm::sort(touched->reduced);
  touched->reduced.erase(llvm::unique(touched->reduced), touched->reduced.end());
  return *touched;
}

// In one group, all that is reduced has the same factors (G2). A factor of one group becomes one of
// the other only by a value that both touch, so that two layers which share a table along one dim
// are told apart without building their common space.
bool Groups::mayReduceTogether(int a, int b) {
  ++work_;
  touchedBy(a);
  touchedBy(b);
  auto covers = [&](const Touched &own, const Touched &other) {
    SmallVector<int> shared;
    const bool isSmaller = own.factors.size() < other.factors.size();
    for (const auto &[value, factors] : isSmaller ? own.factors : other.factors)
      if (own.factors.contains(value) && other.factors.contains(value))
        llvm::append_range(shared, own.factors.at(value));
    llvm::sort(shared);
    shared.erase(llvm::unique(shared), shared.end());
    return isSubset(own.reduced, shared);
  };
  return covers(*touched_[a], *touched_[b]) && covers(*touched_[b], *touched_[a]);
}

std::pair<size_t, size_t> Groups::sizesOf(int into, int from) const {
  auto size = [&](int group) {
    return groups_[group].members.size() + groups_[group].recomputed.size();
  };
  return {size(into), size(from)};
}

bool Groups::isRefused(int a, int b) const {
  const int into = std::min(a, b), from = std::max(a, b);
  auto refused = refused_.find({into, from});
  return refused != refused_.end() && refused->second == sizesOf(into, from);
}

bool Groups::mayHoldBoth(int a, int b) const {
  return groups_[a].members.size() + groups_[b].members.size() <= kMostMembers;
}

graph::StagePart Groups::partOf(const Group &group) const {
  graph::StagePart part;
  for (int member : group.members)
    part = std::max(part, parts_.lookup(ops_[member]));
  return part;
}

bool Groups::tryMerge(int a, int b) {
  if (!mayHoldBoth(a, b) || isRefused(a, b))
    return false;
  const int into = std::min(a, b), from = std::max(a, b);
  refused_[{into, from}] = sizesOf(into, from);
  const int first = groups_[a].members.front(), second = groups_[b].members.front();
  if (partOf(groups_[a]) != partOf(groups_[b]))
    return false;
  Group merged;
  llvm::append_range(merged.members, groups_[into].members);
  llvm::append_range(merged.members, groups_[from].members);
  llvm::sort(merged.members);
  for (int part : {into, from})
    for (int position : groups_[part].recomputed)
      if (!llvm::is_contained(merged.members, position) &&
          !llvm::is_contained(merged.recomputed, position))
        merged.recomputed.push_back(position);
  merged.numbers = {a, b};
  const bool isEven = even_[into] && even_[into] == even_[from];
  if (!(isEven || obeysRules(merged)) || !graph_.merge(first, second))
    return false;
  merged.numbers = {into};
  for (int part : {into, from})
    for (int position : groups_[part].recomputed)
      llvm::erase(recomputedIn_[position], part);
  for (int position : merged.recomputed)
    recomputedIn_[position].push_back(into);
  groups_[into] = std::move(merged);
  if (!touched_.empty())
    touched_[into].reset();
  if (!isEven)
    even_[into].reset();
  groups_[from] = {};
  for (int member : groups_[into].members)
    groupOf_[member] = into;
  return true;
}

bool Groups::mergeProducers() {
  bool changed = false;
  for (size_t position = 0; position < ops_.size(); ++position) {
    if (groupOf_[position] < 0)
      continue;
    for (Value operand : ops_[position]->getOperands()) {
      Value source = sourceOf(operand);
      Operation *producer = source ? source.getDefiningOp() : nullptr;
      int a = producer ? groupOf_[position_.lookup(producer)] : -1;
      if (a >= 0 && a != groupOf_[position])
        changed |= tryMerge(a, groupOf_[position]);
    }
  }
  return changed;
}

bool Groups::reduces(int group) const {
  return llvm::any_of(groups_[group].members,
                      [&](int member) { return isa<graph::ReduceOp>(ops_[member]); });
}

Groups::Sharing Groups::sharingOf(ArrayRef<int> readers) {
  Sharing sharing;
  for (auto [index, reader] : llvm::enumerate(readers)) {
    SmallVector<int> &inGroup = sharing.inGroup[groupOf_[reader]];
    if (inGroup.empty())
      for (const auto &[value, factors] : touchedBy(groupOf_[reader]).factors)
        sharing.touching[value].push_back(static_cast<int>(index));
    inGroup.push_back(static_cast<int>(index));
  }
  return sharing;
}

// The later readers whose groups share values along a factor that the reader's group reduces over,
// ascending: no other group may reduce together with it. Of the factors the one with the fewest
// readers is taken, so that a table that all layers read along one dim makes no pairs of layers.
SmallVector<int> Groups::mayReduceWith(ArrayRef<int> readers, int index, const Sharing &sharing) {
  const Touched &own = touchedBy(groupOf_[readers[index]]);
  llvm::DenseMap<int, size_t> counts; // per factor
  for (const auto &[value, factors] : own.factors)
    if (auto with = sharing.touching.find(value); with != sharing.touching.end())
      for (int factor : factors)
        counts[factor] += with->second.size();
  const int fewest =
      *llvm::min_element(own.reduced, [&](int x, int y) { return counts[x] < counts[y]; });
  llvm::SmallDenseSet<int> groups = {groupOf_[readers[index]]};
  SmallVector<int> found;
  for (const auto &[value, factors] : own.factors)
    if (llvm::is_contained(factors, fewest))
      if (auto with = sharing.touching.find(value); with != sharing.touching.end())
        for (int other : with->second)
          if (const int group = groupOf_[readers[other]]; groups.insert(group).second)
            llvm::append_range(found, sharing.inGroup.at(group));
  llvm::erase_if(found, [&](int other) { return other <= index; });
  llvm::sort(found);
  return found;
}

// Merges groups with reductions that read one value.
bool Groups::mergeReaders(ArrayRef<int> readers) {
  Sharing sharing = sharingOf(readers);
  bool changed = false;
  for (int i = 0, count = static_cast<int>(readers.size()); i < count; ++i) {
    SmallVector<int> others = mayReduceWith(readers, i, sharing);
    for (size_t k = 0; k < others.size(); ++k) {
      const int a = groupOf_[readers[i]], b = groupOf_[readers[others[k]]];
      if (a == b || !mayHoldBoth(a, b) || isRefused(a, b) || !mayReduceTogether(a, b) ||
          !tryMerge(a, b))
        continue;
      changed = true;
      SmallVector<int> both = sharing.inGroup[a];
      llvm::append_range(both, sharing.inGroup[b]);
      sharing.inGroup[groupOf_[readers[i]]] = std::move(both);
      const int last = others[k];
      others = mayReduceWith(readers, i, sharing);
      k = llvm::upper_bound(others, last) - others.begin() - 1;
    }
  }
  return changed;
}

// Merges reductions of one value over the same dims, so that the value is read once.
bool Groups::mergeSiblings() {
  SmallVector<Value> values(ops_.front()->getBlock()->getArguments());
  for (Operation *op : ops_)
    llvm::append_range(values, op->getResults());
  bool changed = false;
  for (Value value : values) {
    SmallVector<int> readers = readersOf(value);
    llvm::erase_if(readers,
                   [&](int reader) { return groupOf_[reader] < 0 || !reduces(groupOf_[reader]); });
    if (readers.size() < 2 || compared_.contains(readers))
      continue;
    if (mergeReaders(readers)) {
      compared_.clear();
      changed = true;
    } else {
      compared_.insert(std::move(readers));
    }
  }
  return changed;
}

// Merges scalars that follow from the step's arguments alone, such as counters: one launch costs
// more than computing all of them.
void Groups::mergeNumbers() {
  auto isNumber = [&](const Group &group) {
    return !group.members.empty() && llvm::all_of(group.members, [&](int member) {
      Operation *op = ops_[member];
      return graph::elementCount(op->getResult(0).getType()) == Polynomial(1) &&
             llvm::all_of(op->getOperands(), [&](Value operand) {
               Value source = sourceOf(operand);
               return !source || isa<BlockArgument>(source) || isIn(source.getDefiningOp(), group);
             });
    });
  };
  SmallVector<int> merged; // groups that others have been merged into
  for (int group = 0, count = static_cast<int>(groups_.size()); group < count; ++group)
    if (isNumber(groups_[group]) &&
        llvm::none_of(merged, [&](int into) { return tryMerge(into, group); }))
      merged.push_back(group);
}

void Groups::form() {
  while (mergeProducers()) {
  }
  while (mergeSiblings()) {
  }
  mergeNumbers();
}

} // namespace cleave::fuse
