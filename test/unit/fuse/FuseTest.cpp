// Kernel groups, and equal results of the step before and after grouping.
#include "passes/fuse/Fuse.h"
#include "dialects/graph/Build.h"
#include "dialects/graph/Step.h"
#include "passes/fuse/Groups.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace cleave;

namespace {

struct Fused {
  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  SmallVector<graph::FusionOp> groups;

  // `body` stands between the braces of the step.
  Fused(const std::string &signature, const std::string &body) {
    context.loadDialect<graph::GraphDialect, func::FuncDialect>();
    module =
        parseSourceString<ModuleOp>("func.func @step" + signature + " {" + body + "}", &context);
    REQUIRE(module);
    func::FuncOp step = graph::stepOf(*module);
    // Decomposed composites, as the pipeline does before.
    for (Operation &op : llvm::make_early_inc_range(step.getBody().front()))
      if (auto composite = dyn_cast<graph::DecompositionInterface>(op)) {
        OpBuilder b(&op);
        op.replaceAllUsesWith(composite.decompose(b));
        op.erase();
      }
    std::vector<Tensor> before = run(step);
    fuse::formGroups(step);
    REQUIRE(succeeded(verify(*module)));
    std::vector<Tensor> after = run(step);
    for (size_t i = 0; i < before.size(); ++i)
      CHECK(before[i].values == after[i].values);
    for (graph::FusionOp fusion : step.getOps<graph::FusionOp>())
      groups.push_back(fusion);
  }

  // All results on operands that count up.
  static std::vector<Tensor> run(func::FuncOp step) {
    llvm::DenseMap<Value, Tensor> values;
    for (BlockArgument argument : step.getArguments()) {
      Tensor tensor(graph::toElementType(graph::elementTypeOf(argument)),
                    graph::staticShapeOf(argument));
      for (int64_t i = 0; i < tensor.size(); ++i)
        tensor.set(i, 0.1 * static_cast<double>((i * 7 + argument.getArgNumber() * 3) % 23));
      values[argument] = tensor;
    }
    for (Operation &op : step.getBody().front().without_terminator()) {
      SmallVector<Tensor> operands;
      for (Value operand : op.getOperands())
        operands.push_back(values[operand]);
      SmallVector<Tensor> results = cast<graph::ReferenceInterface>(op).evaluate(operands);
      for (auto [value, tensor] : llvm::zip(op.getResults(), results))
        values[value] = tensor;
    }
    std::vector<Tensor> results;
    for (Value value : step.getBody().front().getTerminator()->getOperands())
      results.push_back(values[value]);
    return results;
  }
};

} // namespace

TEST_CASE("a softmax becomes one group") {
  Fused fused("(%x: tensor<4x8xf32>) -> tensor<4x8xf32>", R"(
    %s = graph.softmax %x dim 1 : tensor<4x8xf32>
    return %s : tensor<4x8xf32>)");
  CHECK(fused.groups.size() == 1);
}

TEST_CASE("a layer norm with the residual sum before it becomes one group of two results") {
  Fused fused("(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>) -> "
              "(tensor<4x8xf32>, tensor<4x8xf32>)",
              R"(
    %z = graph.add %x, %y : tensor<4x8xf32>
    %s = graph.layer_norm %z, %g, %b {epsilon = 1.0e-5 : f64} : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>
    return %s, %z : tensor<4x8xf32>, tensor<4x8xf32>)");
  REQUIRE(fused.groups.size() == 1);
  CHECK(fused.groups[0].getNumResults() == 2);
}

TEST_CASE("a sum over rows ends its group, and sums that read the same value share one") {
  Fused fused("(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<8xf32>, tensor<8xf32>)", R"(
    %z = graph.mul %x, %y : tensor<4x8xf32>
    %s = graph.reduce sum %z over [0] : tensor<4x8xf32> -> tensor<8xf32>
    %t = graph.reduce sum %x over [0] : tensor<4x8xf32> -> tensor<8xf32>
    %u = graph.exp %s : tensor<8xf32>
    return %u, %t : tensor<8xf32>, tensor<8xf32>)");
  CHECK(fused.groups.size() == 2);
}

TEST_CASE("a row that is too long for the cache is not fused through") {
  Fused fused("(%x: tensor<2x20000xf32>) -> tensor<2x20000xf32>", R"(
    %s = graph.softmax %x dim 1 : tensor<2x20000xf32>
    return %s : tensor<2x20000xf32>)");
  CHECK(fused.groups.size() == 3);
}

TEST_CASE("a mean over the whole batch does not tie the batch together") {
  Fused fused("(%x: tensor<4x8xf32>) -> tensor<4x8xf32>", R"(
    %s = graph.reduce sum %x over [0, 1] : tensor<4x8xf32> -> tensor<f32>
    %b = graph.broadcast %s to [] : tensor<f32> -> tensor<4x8xf32>
    %d = graph.sub %x, %b : tensor<4x8xf32>
    return %d : tensor<4x8xf32>)");
  CHECK(fused.groups.size() == 2);
}

TEST_CASE("ops before and after a matmul stay in separate groups, without a cycle") {
  Fused fused("(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32>", R"(
    %e = graph.exp %x : tensor<4x4xf32>
    %m = graph.dot_general %e, %w batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    %s = graph.add %e, %m : tensor<4x4xf32>
    return %s : tensor<4x4xf32>)");
  CHECK(fused.groups.size() == 2);
}

TEST_CASE("a cheap value is recomputed after a matmul instead of being kept") {
  Fused fused("(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32>", R"(
    %t = graph.tanh %x : tensor<4x4xf32>
    %y = graph.mul %t, %x : tensor<4x4xf32>
    %m = graph.dot_general %y, %w batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    %s = graph.mul %t, %m : tensor<4x4xf32>
    return %s : tensor<4x4xf32>)");
  REQUIRE(fused.groups.size() == 2);
  CHECK(fused.groups[0].getNumResults() == 1);
  CHECK(fused.groups[1].getNumOperands() == 2);
}

TEST_CASE("a value of more than 24 ops is kept instead of being recomputed") {
  // The results of the ops before the matmul.
  auto keptAfter = [](int ops) {
    std::string body = "%v0 = graph.tanh %x : tensor<4x4xf32>\n";
    for (int i = 1; i < ops; ++i)
      body += "%v" + std::to_string(i) + " = graph.tanh %v" + std::to_string(i - 1) +
              " : tensor<4x4xf32>\n";
    const std::string last = "%v" + std::to_string(ops - 1);
    Fused fused("(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32>",
                body + "%y = graph.mul " + last + R"(, %x : tensor<4x4xf32>
    %m = graph.dot_general %y, %w batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    %s = graph.mul )" +
                    last + R"(, %m : tensor<4x4xf32>
    return %s : tensor<4x4xf32>)");
    REQUIRE(fused.groups.size() == 2);
    return fused.groups[0].getNumResults();
  };
  CHECK(keptAfter(24) == 1);
  CHECK(keptAfter(25) == 2);
}

TEST_CASE("two counts along different dims of one iota are two") {
  Fused fused("(%x: tensor<4x4xf32>) -> tensor<4x4xf32>", R"(
    %i = graph.iota dim 0 : tensor<4xi32>
    %a = graph.broadcast %i to [0] : tensor<4xi32> -> tensor<4x4xi32>
    %b = graph.broadcast %i to [1] : tensor<4xi32> -> tensor<4x4xi32>
    %c = graph.compare ge %a, %b : tensor<4x4xi32>
    %f = graph.cast %c : tensor<4x4xi1> -> tensor<4x4xf32>
    %s = graph.mul %f, %x : tensor<4x4xf32>
    return %s : tensor<4x4xf32>)");
  CHECK(fused.groups.size() == 1);
}

TEST_CASE("readers of one iota that a clean-up merged within a group are parted again") {
  Fused fused("(%x: tensor<4x4xf32>) -> tensor<4x4xf32>", R"(
    %i = graph.iota dim 0 : tensor<4xi32>
    %a = graph.broadcast %i to [0] : tensor<4xi32> -> tensor<4x4xi32>
    %b = graph.broadcast %i to [1] : tensor<4xi32> -> tensor<4x4xi32>
    %c = graph.compare ge %a, %b : tensor<4x4xi32>
    %f = graph.cast %c : tensor<4x4xi1> -> tensor<4x4xf32>
    %s = graph.mul %f, %x : tensor<4x4xf32>
    return %s : tensor<4x4xf32>)");
  Block &body = fused.groups[0].getBody().front();
  auto iotas = llvm::to_vector(body.getOps<graph::IotaOp>());
  REQUIRE(iotas.size() == 2);
  iotas[1].replaceAllUsesWith(iotas[0].getResult());
  iotas[1].erase();
  fuse::separateIotasInGroups(graph::stepOf(*fused.module));
  CHECK(llvm::range_size(body.getOps<graph::IotaOp>()) == 2);
}

TEST_CASE("all pairs of one value's elements are compared with one reading made before") {
  Fused fused("(%s: tensor<2x3xi64>) -> tensor<2x3x3xi1>", R"(
    %a = graph.broadcast %s to [0, 1] : tensor<2x3xi64> -> tensor<2x3x3xi64>
    %b = graph.broadcast %s to [0, 2] : tensor<2x3xi64> -> tensor<2x3x3xi64>
    %y = graph.compare eq %a, %b : tensor<2x3x3xi64>
    return %y : tensor<2x3x3xi1>)");
  REQUIRE(fused.groups.size() == 2);
  CHECK(fused.groups[1].getOperands().size() == 2);
}

TEST_CASE("ops that only a recomputed value held together become kernels of their own") {
  Fused fused("(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> "
              "(tensor<4x4xf32>, tensor<4x4xf32>)",
              R"(
    %a = graph.softmax %x dim 1 : tensor<4x4xf32>
    %b = graph.softmax %y dim 1 : tensor<4x4xf32>
    %z = graph.mul %a, %b : tensor<4x4xf32>
    %m = graph.dot_general %a, %w batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    %s = graph.add %m, %z : tensor<4x4xf32>
    return %s, %b : tensor<4x4xf32>, tensor<4x4xf32>)");
  REQUIRE(fused.groups.size() == 3);
  for (graph::FusionOp group : fused.groups)
    CHECK(llvm::count_if(group.getBody().front(),
                         [](Operation &op) { return isa<graph::ReduceOp>(op); }) <= 2);
}

TEST_CASE("a long chain becomes groups of bounded size") {
  std::string body = "%v0 = graph.exp %x : tensor<2xf32>\n";
  for (int i = 1; i < 300; ++i)
    body += "%v" + std::to_string(i) + " = graph.tanh %v" + std::to_string(i - 1) +
            " : tensor<2xf32>\n";
  Fused step("(%x: tensor<2xf32>) -> tensor<2xf32>", body + "return %v299 : tensor<2xf32>");
  CHECK(step.groups.size() >= 5);
  CHECK(step.groups.size() <= 10);
  for (graph::FusionOp group : step.groups) {
    Block &ops = group.getBody().front();
    CHECK(llvm::count_if(ops, [](Operation &op) { return fuse::isComputeOp(&op); }) <= 64);
  }
}

// The work of grouping a step with these arguments and results.
static size_t workOnStep(const std::string &signature, const std::string &body) {
  MLIRContext context{MLIRContext::Threading::DISABLED};
  context.loadDialect<graph::GraphDialect, func::FuncDialect>();
  auto module =
      parseSourceString<ModuleOp>("func.func @step" + signature + " {\n" + body + "}", &context);
  REQUIRE(module);
  fuse::Groups groups(graph::stepOf(*module));
  groups.form();
  return groups.work();
}

// The work of grouping layers h = exp(h w) and their backward part, which reads every h.
static size_t workOf(int layers) {
  const std::string type = "tensor<8x8xf32>",
                    product = ", %w batch [] x [] contract [1] x [0] : " + type + ", " + type +
                              " -> " + type + "\n";
  auto at = [](const char *name, int i) { return "%" + std::string(name) + std::to_string(i); };
  std::string body = "%h0 = graph.exp %x : " + type + "\n";
  for (int i = 1; i <= layers; ++i)
    body += at("p", i) + " = graph.dot_general " + at("h", i - 1) + product + at("h", i) +
            " = graph.exp " + at("p", i) + " : " + type + "\n";
  body += at("g", layers) + " = graph.mul " + at("h", layers) + ", %x : " + type + "\n";
  for (int i = layers; i > 0; --i)
    body += at("b", i) + " = graph.mul " + at("g", i) + ", " + at("h", i) + " : " + type + "\n" +
            at("g", i - 1) + " = graph.dot_general " + at("b", i) + product;
  return workOnStep("(%x: " + type + ", %w: " + type + ") -> " + type,
                    body + "return %g0 : " + type);
}

TEST_CASE("twice the layers are twice the work of grouping") {
  CHECK(workOf(80) < workOf(40) * 2.2);
}

// The work of grouping layers whose rows are scaled by one table and reduced.
static size_t workOfTable(int layers) {
  std::string body;
  auto at = [](const char *name, int i) { return "%" + std::string(name) + std::to_string(i); };
  for (int i = 1; i <= layers; ++i)
    body += at("p", i) + " = graph.dot_general " + (i == 1 ? "%x" : at("h", i - 1)) +
            ", %w batch [] x [] contract [1] x [0] : tensor<8x6xf32>, tensor<6x6x4xf32> -> "
            "tensor<8x6x4xf32>\n" +
            at("t", i) + " = graph.broadcast %t to [1] : tensor<6xf32> -> tensor<8x6x4xf32>\n" +
            at("m", i) + " = graph.mul " + at("p", i) + ", " + at("t", i) +
            " : tensor<8x6x4xf32>\n" + at("h", i) + " = graph.reduce sum " + at("m", i) +
            " over [2] : tensor<8x6x4xf32> -> tensor<8x6xf32>\n";
  return workOnStep("(%x: tensor<8x6xf32>, %w: tensor<6x6x4xf32>, %t: tensor<6xf32>) -> "
                    "tensor<8x6xf32>",
                    body + "return " + at("h", layers) + " : tensor<8x6xf32>");
}

// The work of grouping updates of equal parameters that read the same rates, and the sums of what
// they update.
static size_t workOfUpdates(int parameters) {
  const std::string type = "tensor<8x8xf32>";
  std::string signature = "(%r: tensor<f32>, %s: tensor<f32>", results, body, sums;
  for (const char *rate : {"r", "s"})
    body += "%" + std::string(rate) + "s = graph.broadcast %" + rate + " to [] : tensor<f32> -> " +
            type + "\n";
  for (int i = 0; i < parameters; ++i) {
    const std::string n = std::to_string(i);
    signature += ", %p" + n + ": " + type;
    results += (i ? ", " : "") + std::string("tensor<8xf32>");
    sums += (i ? ", %t" : "%t") + n;
    body += "%a" + n + " = graph.mul %p" + n + ", %rs : " + type + "\n%b" + n + " = graph.add %a" +
            n + ", %ss : " + type + "\n%t" + n + " = graph.reduce sum %b" + n +
            " over [1] : " + type + " -> tensor<8xf32>\n";
  }
  return workOnStep(signature + ") -> (" + results + ")",
                    body + "return " + sums + " : " + results);
}

TEST_CASE("updates that read the same rates are not tried in pairs") {
  CHECK(workOfUpdates(320) < workOfUpdates(160) * 2.2);
}

TEST_CASE("layers that share a table are not tried in pairs") {
  CHECK(workOfTable(80) < workOfTable(40) * 2.2);
}
