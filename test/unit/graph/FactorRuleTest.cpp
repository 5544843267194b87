// Factor rules verified by execution: every op is split along every splittable factor, evaluated
// block by block, joined again and compared with the evaluation of the whole op.
#include "compiler/interpret/Interpret.h"
#include "dialects/graph/Graph.h"
#include "passes/decompose/Decompose.h"
#include "test/unit/graph_text/GraphText.h"
#include "test/unit/graph_text/OpCases.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace cleave;
using namespace cleave::test;
using namespace mlir;

namespace {

// Visits the elements of a rank's block that are inside the tensor: (position in the block,
// position in the whole).
template <typename Visit>
void forEachInBlock(const std::vector<int64_t> &shape, const Sharding &sharding, const Mesh &mesh,
                    int64_t rank, Visit visit) {
  std::vector<int64_t> local = localShape(shape, sharding, mesh),
                       offset = localOffset(shape, sharding, mesh, rank);
  std::vector<int64_t> strides = Tensor(ElementType::F64, shape).strides();
  int64_t position = 0;
  forEachIndex(local, [&](const std::vector<int64_t> &index) {
    int64_t whole = 0;
    bool isInside = true;
    for (size_t d = 0; d < index.size(); ++d) {
      isInside &= index[d] + offset[d] < shape[d];
      whole += (index[d] + offset[d]) * strides[d];
    }
    if (isInside)
      visit(position, whole);
    ++position;
  });
}

Tensor cut(const Tensor &whole, const Sharding &sharding, const Mesh &mesh, int64_t rank) {
  // Padding past the end is undefined.
  Tensor block(whole.type, localShape(whole.shape, sharding, mesh),
               whole.type == ElementType::Bool ? 1 : 77);
  forEachInBlock(whole.shape, sharding, mesh, rank,
                 [&](int64_t local, int64_t at) { block.values[local] = whole.values[at]; });
  return block;
}

Tensor join(const std::vector<Tensor> &blocks, const std::vector<int64_t> &shape,
            const Sharding &sharding, const Mesh &mesh) {
  Tensor whole(blocks[0].type, shape, std::nan(""));
  for (size_t rank = 0; rank < blocks.size(); ++rank)
    forEachInBlock(shape, sharding, mesh, static_cast<int64_t>(rank),
                   [&](int64_t local, int64_t at) {
                     double value = blocks[rank].values[local], &into = whole.values[at];
                     if (rank == 0 || sharding.partial.empty())
                       into = value;
                     else
                       into = sharding.reduce == ReduceKind::Sum   ? into + value
                              : sharding.reduce == ReduceKind::Max ? std::max(into, value)
                                                                   : std::min(into, value);
                   });
  return whole;
}

// One op, evaluated as a whole and in blocks.
class Splitter {
public:
  Splitter(Operation *op, int64_t ranks)
      : op(op), rule(cast<graph::FactorRuleInterface>(op).getFactorRule()), mesh{{{"x", ranks}}} {}

  // Whether factor f may be split here. Blocks of a sum must be equal: masking the padding of
  // unequal blocks is the task of the partitioner.
  bool allows(size_t f) const {
    FactorAxes axes = axesOf(f);
    if (!isValidSplit(rule, axes, mesh))
      return false;
    return rule.factors[f].kind != FactorKind::Reduction ||
           *rule.factors[f].size.constant() % mesh.ranks() == 0;
  }

  void check(size_t f, ArrayRef<Tensor> operands) {
    FactorAxes axes = axesOf(f);
    SmallVector<Tensor> whole = cast<graph::ReferenceInterface>(op).evaluate(operands);
    std::vector<std::vector<Tensor>> blocks(whole.size());
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
      std::vector<Tensor> results = runBlock(f, axes, operands, rank);
      for (size_t i = 0; i < results.size(); ++i)
        blocks[i].push_back(results[i]);
    }
    for (size_t i = 0; i < whole.size(); ++i) {
      Tensor joined = join(blocks[i], whole[i].shape, resultSharding(rule, i, axes), mesh);
      CHECK(difference(joined, whole[i]) < 1e-12);
    }
  }

private:
  FactorAxes axesOf(size_t f) const {
    FactorAxes axes(rule.factors.size());
    axes[f] = {0};
    return axes;
  }

  Type localType(Value value, const Sharding &sharding) {
    return RankedTensorType::get(localShape(graph::staticShapeOf(value), sharding, mesh),
                                 graph::elementTypeOf(value));
  }

  // Builds the op for one rank in a function of its own and evaluates it.
  std::vector<Tensor> runBlock(size_t f, const FactorAxes &axes, ArrayRef<Tensor> operands,
                               int64_t rank) {
    SmallVector<Type> operandTypes, resultTypes;
    std::vector<Tensor> args;
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      Sharding sharding = operandSharding(rule, i, axes);
      operandTypes.push_back(localType(operand, sharding));
      args.push_back(cut(operands[i], sharding, mesh, rank));
    }
    for (auto [i, result] : llvm::enumerate(op->getResults()))
      resultTypes.push_back(localType(result, resultSharding(rule, i, axes)));
    OpBuilder b(op->getContext());
    auto type = FunctionType::get(op->getContext(), operandTypes, resultTypes);
    OwningOpRef<func::FuncOp> function = func::FuncOp::create(b, op->getLoc(), "block", type);
    b.setInsertionPointToStart(function->addEntryBlock());
    int64_t size = *rule.factors[f].size.constant(),
            perRank = (size + mesh.ranks() - 1) / mesh.ranks();
    auto offset = [&](unsigned factor) -> Value {
      if (factor != f)
        return {};
      Tensor scalar(ElementType::I64, {}, static_cast<double>(rank * perRank));
      return graph::ConstantOp::create(b, op->getLoc(),
                                       graph::toAttribute(scalar, op->getContext()));
    };
    auto results = cast<graph::PartitionInterface>(op).partition(b, function->getArguments(),
                                                                 resultTypes, offset);
    func::ReturnOp::create(b, op->getLoc(), results);
    auto values = interpret::run(*function, args);
    INFO(values.status().message());
    REQUIRE(values.isOk());
    checkDecomposition(*function, args, *values);
    return *values;
  }

  // The decomposition of a composite computes the same on a block.
  static void checkDecomposition(func::FuncOp block, ArrayRef<Tensor> args,
                                 ArrayRef<Tensor> expected) {
    decompose::decomposeComposites(block);
    auto values = interpret::run(block, args);
    REQUIRE(values.isOk());
    for (size_t i = 0; i < expected.size(); ++i)
      CHECK(difference((*values)[i], expected[i]) < 1e-12);
  }

  Operation *op;
  FactorRule rule;
  Mesh mesh;
};

SmallVector<Tensor> randomOperands(Operation *op, Random &random, double low, double high) {
  SmallVector<Tensor> operands;
  for (Value operand : op->getOperands())
    operands.push_back(randomTensor(operand.getType(), random, low, high));
  return operands;
}

// Calls visit(op) for the ops of a function's own block.
template <typename Visit> void forEachOp(func::FuncOp function, Visit visit) {
  for (Operation &op : function.getBody().front().without_terminator())
    visit(&op);
}

} // namespace

TEST_CASE("splitting any op along any factor gives the result of the whole op") {
  int splits = 0;
  for (const OpCase &c : allCases()) {
    GraphText text(c.text());
    forEachOp(text.function(), [&](Operation *op) {
      if (isa<graph::FusionOp>(op)) // split op by op, by passes/shard
        return;
      for (int64_t ranks : {2, 3}) {
        Splitter splitter(op, ranks);
        FactorRule rule = cast<graph::FactorRuleInterface>(op).getFactorRule();
        for (size_t f = 0; f < rule.factors.size(); ++f) {
          if (!splitter.allows(f))
            continue;
          ++splits;
          Random random(static_cast<unsigned>(f) + 11);
          INFO(c.text() << "\nrule " << rule.str() << ", factor " << f << " over " << ranks
                        << " ranks");
          splitter.check(f, randomOperands(op, random, c.low, c.high));
        }
      }
    });
  }
  CHECK(splits > 200);
}

static Tensor added(const Tensor &x, const Tensor &y) {
  Tensor sum = x;
  for (int64_t i = 0; i < x.size(); ++i)
    sum.values[i] += y.values[i];
  return sum;
}

TEST_CASE("ops whose rule is linear are linear") {
  int linear = 0;
  for (const OpCase &c : allCases()) {
    GraphText text(c.text());
    forEachOp(text.function(), [&](Operation *op) {
      if (!cast<graph::FactorRuleInterface>(op).getFactorRule().linear)
        return;
      INFO(c.text());
      Random random(3);
      auto reference = cast<graph::ReferenceInterface>(op);
      SmallVector<Tensor> x = randomOperands(op, random, c.low, c.high),
                          y = randomOperands(op, random, c.low, c.high);
      SmallVector<Tensor> both;
      for (auto [a, b] : llvm::zip(x, y))
        both.push_back(added(a, b));
      ++linear;
      CHECK(difference(reference.evaluate(both)[0],
                       added(reference.evaluate(x)[0], reference.evaluate(y)[0])) < 1e-12);
    });
  }
  CHECK(linear > 10);
}

TEST_CASE("the rules of the main ops are as expected") {
  auto rule = [](const std::string &args, const std::string &body, const std::string &result) {
    GraphText text(OpCase{args, body, result}.text());
    Operation *op =
        text.function().getBody().front().getTerminator()->getOperand(0).getDefiningOp();
    return cast<graph::FactorRuleInterface>(op).getFactorRule().str();
  };
  CHECK(rule("%x: tensor<2x3x4xf32>, %w: tensor<4x5xf32>",
             "%y = graph.dot_general %x, %w batch [] x [] contract [2] x [0] : tensor<2x3x4xf32>, "
             "tensor<4x5xf32> -> "
             "tensor<2x3x5xf32>",
             "tensor<2x3x5xf32>") == "a b d, d c -> a b c");
  CHECK(rule("%x: tensor<6x4xf32>", "%y = graph.reshape %x : tensor<6x4xf32> -> tensor<2x3x4xf32>",
             "tensor<2x3x4xf32>") == "(c b) a -> c b a");
  CHECK(rule("%x: tensor<6x4xf32>", "%y = graph.softmax %x dim 1 : tensor<6x4xf32>",
             "tensor<6x4xf32>") == "a !b -> a !b");
}
