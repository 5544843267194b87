// Positions keep their precision in low types: sines and cosines that a model computes from indices
// and constants alone, and the rows that it chooses of tables, are the same in bf16 and f16 as in
// f32. For every architecture of the zoo at its full context, and for exported models.
#include "compiler/frontend/onnx/Import.h"
#include "compiler/frontend/onnx/file/ModelWriter.h"
#include "compiler/zoo/Zoo.h"
#include "dialects/graph/Rounding.h"
#include "dialects/graph/Step.h"
#include "passes/precision/Precision.h"
#include "passes/simplify/Simplify.h"
#include "test/unit/train/Origins.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace cleave;
using namespace mlir;

namespace {

using Sizes = std::map<std::string, int64_t>;

// Elements of the largest value that is computed: larger ones are masks of all pairs of positions.
constexpr int64_t kMaxElements = int64_t(1) << 23;

// Computes values that follow from indices and constants alone.
class Evaluation {
public:
  explicit Evaluation(std::filesystem::path model) : model_(std::move(model)) {}

  // Null for values that depend on data or parameters, and for large ones.
  const Tensor *of(Value value) {
    auto [it, isNew] = known_.try_emplace(value);
    if (!isNew)
      return it->second.get();
    auto type = cast<RankedTensorType>(value.getType());
    std::unique_ptr<Tensor> computed;
    if (type.hasStaticShape() && type.getNumElements() <= kMaxElements)
      computed = compute(value);
    return (known_[value] = std::move(computed)).get();
  }

private:
  std::unique_ptr<Tensor> compute(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return constantOf(cast<BlockArgument>(value));
    auto reference = dyn_cast<graph::ReferenceInterface>(op);
    if (!reference || op->getNumResults() != 1 || !isMemoryEffectFree(op))
      return nullptr;
    SmallVector<Tensor> operands;
    for (Value operand : op->getOperands()) {
      const Tensor *known = of(operand);
      if (!known)
        return nullptr;
      operands.push_back(*known);
    }
    return std::make_unique<Tensor>(reference.evaluate(operands)[0]);
  }

  std::unique_ptr<Tensor> constantOf(BlockArgument argument) {
    auto step = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    if (graph::argRole(step, argument.getArgNumber()) != Role::Constant)
      return nullptr;
    return std::make_unique<Tensor>(test::firstValue(
        step, argument.getArgNumber(), model_.parent_path().string(), model_.filename().string()));
  }

  std::filesystem::path model_;
  llvm::DenseMap<Value, std::unique_ptr<Tensor>> known_;
};

// The sines and cosines of a step, or the indices of its lookups.
SmallVector<Value> sinesOf(func::FuncOp step) {
  SmallVector<Value> sines;
  for (Operation *op : graph::opsOf(step))
    if (graph::isAngleFunction(op))
      sines.push_back(op->getResult(0));
  return sines;
}
SmallVector<Value> indicesOf(func::FuncOp step) {
  SmallVector<Value> indices;
  step.walk([&](graph::GatherOp op) { indices.push_back(op.getIndices()); });
  return indices;
}

double apart(const Tensor &a, const Tensor &b) {
  REQUIRE(a.shape == b.shape);
  double most = 0;
  for (int64_t i = 0; i < a.size(); ++i)
    most = std::max(most, std::fabs(a.values[i] - b.values[i]));
  return most;
}

// What a policy does to the positions of a model.
struct Found {
  size_t sines = 0, indices = 0; // that follow from positions
  double error = 0;              // the largest of a sine or cosine
  bool areIndicesEqual = true;
};

Found compared(func::FuncOp step, const std::filesystem::path &model, const std::string &policy) {
  IRMapping mapping;
  OwningOpRef<func::FuncOp> low(cast<func::FuncOp>(step->clone(mapping)));
  REQUIRE(succeeded(precision::applyPolicy(*low, *precision::policyFromJson(policy))));
  Found found;
  Evaluation full(model), rounded(model);
  for (Value sine : sinesOf(step))
    if (const Tensor *expected = full.of(sine)) {
      ++found.sines;
      const Tensor *computed = rounded.of(mapping.lookup(sine));
      REQUIRE(computed);
      found.error = std::max(found.error, apart(*computed, *expected));
    }
  for (Value indices : indicesOf(step))
    if (const Tensor *expected = full.of(indices)) {
      ++found.indices;
      const Tensor *computed = rounded.of(mapping.lookup(indices));
      found.areIndicesEqual &= computed && computed->values == expected->values;
    }
  return found;
}

func::FuncOp simplified(ModuleOp module) {
  func::FuncOp step = graph::stepOf(module);
  REQUIRE(succeeded(simplify::simplify(step)));
  return step;
}

// -- the zoo --------------------------------------------------------------------------------------

// The tokens for which an architecture was made.
int64_t contextOf(const zoo::Entry &entry) {
  if (entry.sizes.contains("context"))
    return entry.sizes.at("context");
  return entry.name.starts_with("mixtral")  ? 32768
         : entry.name.starts_with("llama3") ? 8192
         : entry.name.starts_with("llama2") ? 4096
                                            : 512;
}

bool isRotary(const zoo::Entry &entry) { return entry.sizes.contains("rope-base"); }

// One layer of an architecture at its full context.
OwningOpRef<ModuleOp> importEntry(MLIRContext &context, const zoo::Entry &entry) {
  Sizes sizes, symbols = {{"batch", 1}};
  if (entry.sizes.contains("layers") && entry.name != "unet")
    sizes["layers"] = 1;
  if (entry.sizes.contains("vocab"))
    symbols["seq"] = contextOf(entry);
  if (entry.name.starts_with("t5"))
    symbols["target"] = contextOf(entry);
  Result<onnx::Model> model = zoo::build(entry.name, sizes);
  REQUIRE(model.isOk());
  std::filesystem::path path = std::filesystem::temp_directory_path() /
                               ("cleave-positions-" + std::to_string(::getpid()) + ".onnx");
  std::ofstream(path, std::ios::binary) << onnx::writeModel(*model);
  frontend::ImportOptions options;
  options.symbols = symbols;
  Result<frontend::Imported> imported = onnx::importOnnx(context, path.string(), options);
  std::filesystem::remove(path);
  INFO(imported.status().message());
  REQUIRE(imported.isOk());
  return std::move(imported->module);
}

TEST_CASE("every architecture keeps its positions in bf16 and f16 at its full context") {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  for (const zoo::Entry &entry : zoo::entries()) {
    INFO(entry.name);
    OwningOpRef<ModuleOp> module = importEntry(context, entry);
    func::FuncOp step = simplified(*module);
    for (const char *dtype : {R"({"dtype": "bf16"})", R"({"dtype": "f16"})"}) {
      INFO(dtype);
      Found found = compared(step, "", dtype);
      CHECK(found.sines == (isRotary(entry) ? 2 : 0));
      CHECK(found.error == 0);
      CHECK(found.areIndicesEqual);
      if (entry.name.starts_with("t5"))
        CHECK(found.indices > 0);
    }
  }
}

TEST_CASE("angles that are rounded are found") {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  for (const zoo::Entry &entry : zoo::entries())
    if (entry.name == "llama3-8b") {
      OwningOpRef<ModuleOp> module = importEntry(context, entry);
      Found found =
          compared(simplified(*module), "",
                   R"({"dtype": "bf16", "rules": [{"op": "dot_general", "dtype": "bf16"}]})");
      CHECK(found.error > 1);
    }
}

} // namespace
