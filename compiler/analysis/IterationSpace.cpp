// Each op unites dims of its operands and results; the classes of dims become factors in the order
// of first appearance.
#include "compiler/analysis/IterationSpace.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace cleave::analysis {

namespace {

bool isOne(const Polynomial &size) { return size == Polynomial(1); }

// The positions of the dims that are not of size one.
SmallVector<unsigned> properDims(const graph::Shape &shape) {
  SmallVector<unsigned> dims;
  for (unsigned i = 0; i < shape.size(); ++i)
    if (!isOne(shape[i]))
      dims.push_back(i);
  return dims;
}

bool dropsOnlyOnes(graph::ReshapeOp reshape) {
  graph::Shape from = graph::shapeOf(reshape.getOperand()),
               to = graph::shapeOf(reshape.getResult());
  SmallVector<unsigned> a = properDims(from), b = properDims(to);
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [&](auto pair) {
           return from[std::get<0>(pair)] == to[std::get<1>(pair)];
         });
}

// Union-find over the dims of all values.
class SpaceBuilder {
public:
  // Adds the dims of a value. A value whose elements are all equal is treated as a scalar: its dims
  // unite nothing, unless it is reduced.
  void add(Value value, bool isReduced = false) {
    if ((graph::splatValue(value) && !isReduced) ||
        !index_.try_emplace(value, values_.size()).second)
      return;
    values_.push_back(value);
    shapes_.push_back(graph::shapeOf(value));
    first_.push_back(parent_.size());
    for (size_t i = 0; i < shapes_.back().size(); ++i)
      parent_.push_back(parent_.size());
  }

  void visit(Operation *op) {
    for (Value operand : op->getOperands())
      add(operand, isa<graph::ReduceOp>(op));
    for (Value result : op->getResults())
      add(result);
    if (isa<graph::PointwiseInterface>(op))
      return unitePointwise(op);
    if (auto broadcast = dyn_cast<graph::BroadcastOp>(op)) {
      for (auto [i, dim] : llvm::enumerate(broadcast.getDims()))
        unite(broadcast.getOperand(), i, broadcast.getResult(), dim);
    } else if (auto reduce = dyn_cast<graph::ReduceOp>(op)) {
      uniteReduce(reduce);
    } else if (auto transpose = dyn_cast<graph::TransposeOp>(op)) {
      for (auto [i, dim] : llvm::enumerate(transpose.getPermutation()))
        unite(transpose.getOperand(), dim, transpose.getResult(), i);
    } else if (auto reshape = dyn_cast<graph::ReshapeOp>(op)) {
      SmallVector<unsigned> from = properDims(graph::shapeOf(reshape.getOperand()));
      SmallVector<unsigned> to = properDims(graph::shapeOf(reshape.getResult()));
      for (auto [a, b] : llvm::zip(from, to))
        unite(reshape.getOperand(), a, reshape.getResult(), b);
    }
  }

  IterationSpace finish(ArrayRef<Operation *> ops) {
    IterationSpace space;
    for (auto [v, value] : llvm::enumerate(values_)) {
      SmallVector<int> factors;
      for (unsigned dim = 0; dim < shapes_[v].size(); ++dim)
        factors.push_back(
            isOne(shapes_[v][dim]) ? -1 : factorOf(first_[v] + dim, shapes_[v][dim], space));
      space.dims[value] = std::move(factors);
    }
    for (Operation *op : ops)
      if (auto reduce = dyn_cast<graph::ReduceOp>(op))
        for (int64_t dim : reduce.getDims())
          if (int factor = space.factorOf(reduce.getOperand(), dim); factor >= 0)
            space.reduced[op].push_back(factor);
    return space;
  }

private:
  unsigned find(unsigned node) {
    while (parent_[node] != node)
      node = parent_[node] = parent_[parent_[node]];
    return node;
  }

  void unite(Value a, unsigned dimA, Value b, unsigned dimB) {
    auto itA = index_.find(a), itB = index_.find(b);
    if (itA != index_.end() && itB != index_.end())
      parent_[find(first_[itA->second] + dimA)] = find(first_[itB->second] + dimB);
  }

  void unitePointwise(Operation *op) {
    Value result = op->getResult(0);
    for (Value operand : op->getOperands())
      for (int64_t dim = 0; dim < graph::rankOf(result); ++dim)
        unite(operand, dim, result, dim);
  }

  void uniteReduce(graph::ReduceOp reduce) {
    unsigned kept = 0;
    for (int64_t dim = 0; dim < graph::rankOf(reduce.getOperand()); ++dim)
      if (!llvm::is_contained(reduce.getDims(), dim))
        unite(reduce.getOperand(), dim, reduce.getResult(), kept++);
  }

  int factorOf(unsigned node, const Polynomial &size, IterationSpace &space) {
    auto [it, isNew] = factors_.try_emplace(find(node), static_cast<int>(space.sizes.size()));
    if (isNew)
      space.sizes.push_back(size);
    return it->second;
  }

  SmallVector<Value> values_;
  std::vector<graph::Shape> shapes_;
  SmallVector<unsigned> first_, parent_;
  llvm::DenseMap<Value, unsigned> index_;
  llvm::DenseMap<unsigned, int> factors_;
};

} // namespace

int IterationSpace::factorOf(Value value, unsigned dim) const {
  auto it = dims.find(value);
  return it == dims.end() ? -1 : it->second[dim];
}

SmallVector<int> IterationSpace::factorsOf(Value value) const {
  SmallVector<int> factors;
  auto it = dims.find(value);
  if (it != dims.end())
    llvm::copy_if(it->second, std::back_inserter(factors), [](int factor) { return factor >= 0; });
  llvm::sort(factors);
  return factors;
}

bool IterationSpace::isProper() const {
  return llvm::all_of(dims, [&](const auto &entry) {
    SmallVector<int> factors = factorsOf(entry.first);
    return std::adjacent_find(factors.begin(), factors.end()) == factors.end();
  });
}

bool isGroupable(Operation *op) {
  if (auto constant = dyn_cast<graph::ConstantOp>(op))
    return graph::splatValue(constant).has_value();
  if (auto reshape = dyn_cast<graph::ReshapeOp>(op))
    return dropsOnlyOnes(reshape);
  return op->hasTrait<graph::ComputeOp>() || op->hasTrait<graph::Clonable>() ||
         isa<graph::TransposeOp>(op);
}

IterationSpace iterationSpaceOf(ArrayRef<Operation *> ops, ValueRange values) {
  SpaceBuilder builder;
  for (Value value : values)
    builder.add(value);
  for (Operation *op : ops)
    builder.visit(op);
  return builder.finish(ops);
}

} // namespace cleave::analysis
