// fuzz-programs: compares random networks, as training steps and as inference programs under random
// plans, with the interpreter. With files as arguments, replays the cases in them.
#include "dialects/graph/Build.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/StopGradient.h"
#include "test/fuzz/programs/GraphMaker.h"
#include "test/fuzz/programs/Options.h"
#include "test/fuzz/programs/ProgramCase.h"

#include "mlir/IR/Verifier.h"

#include <fstream>
#include <sstream>

using namespace mlir;

namespace cleave::fuzz {

namespace {

const std::vector<GraphMaker::Family> kFamilies = {
    addLayer,     addUnary,     addBinary,      addActivation,    addReduction,     addLayer,
    addTranspose, addProduct,   addReshape,     addNormalisation, addConcat,        addSlice,
    addBroadcast, addAttention, addConvolution, addPool,          addGather,        addSelect,
    addBinary,    addNorm,      addBatchNorm,   addPad,           addReverse,       addScatter,
    addCast,      addCount,     addUnitDim,     addScan,          addSort,          addDropout,
    addInteger,   addLayer,     addProduct,     addBinary,        addGroupedProduct};

const std::vector<std::string> kMeshes = {"dp=2", "dp=1", "dp=2,tp=2", "dp=3", "dp=4"};
const std::vector<std::string> kPins = {"dp", "zero1", "zero2", "zero3", "megatron", ""};
const std::vector<std::string> kOptimizers = {"sgd:lr=1", "sgd:lr=1", "momentum:lr=0.1",
                                              "adamw:lr=0.01", "adam:lr=0.01,weight-decay=0.1"};

// In f16, whether a gradient overflows depends on where it is rounded, and with it the whole step.
const std::vector<std::string> kDtypes = {"f32", "bf16"};

void chooseTraining(GraphMaker &m, ProgramSpec &spec) {
  Choices &choices = m.choose();
  spec.train = true;
  spec.optimizer = choices.pick(kOptimizers);
  spec.accumulate = 1 + choices.below(3) % 3;
  spec.steps = 1 + choices.below(2);
  if (choices.chance(20))
    spec.clip = 0.5;
}

// Whether the value depends on a parameter, so that training can change it.
bool dependsOnParameter(GraphMaker &m, Value value) {
  SmallVector<Value> stack = {value};
  llvm::DenseSet<Value> seen;
  while (!stack.empty()) {
    Value next = stack.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      if (graph::argRole(m.function(), argument.getArgNumber()) == Role::Parameter)
        return true;
    } else if (!isa<graph::StopGradientOp, graph::CompareOp, graph::FloorOp, graph::CeilOp,
                    graph::RoundOp>(next.getDefiningOp())) {
      llvm::append_range(stack, next.getDefiningOp()->getOperands());
    }
  }
  return false;
}

bool hasElements(Value value) { return !llvm::is_contained(graph::staticShapeOf(value), 0); }

// Adds outputs and, for training, the losses on them.
void addOutputs(GraphMaker &m, ProgramSpec &spec, SmallVector<Value> &results) {
  Choices &choices = m.choose();
  if (!spec.train) {
    for (Value value : m.values())
      if (value.getDefiningOp() && value.use_empty())
        results.push_back(value);
    return;
  }
  for (uint32_t count = 1 + choices.below(2); count > 0; --count) {
    Value value = m.find([&](Value v) { // the loss of nothing is no number
      return graph::elementTypeOf(v) == m.floatType() && hasElements(v) && dependsOnParameter(m, v);
    });
    value = m.limited(value ? value : m.argument({2}), 30);
    std::string name = "o" + std::to_string(results.size());
    uint32_t kind = choices.below(3);
    if (kind == 2 && graph::rankOf(value) > 1) {
      spec.losses.push_back("softmax-cross-entropy:" + name);
    } else if (kind == 1) {
      SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, graph::rankOf(value)));
      value = graph::buildMean(m.builder(), value, dims);
      spec.losses.push_back("output:" + name);
    } else {
      spec.losses.push_back("mse:" + name);
    }
    results.push_back(value);
  }
}

void addPlans(Choices &choices, ProgramSpec &spec) {
  for (int i = 0; i < 3; ++i) {
    PlanSpec plan;
    plan.mesh = choices.pick(kMeshes);
    if (!choices.chance(35)) {
      plan.random = 1 + choices.below(100000);
    } else {
      plan.pin = choices.pick(kPins);
      if (choices.chance(25))
        plan.memory = 2048u << choices.below(8);
    }
    spec.plans.push_back(plan);
  }
}

void experiment(Choices &choices, Report &report) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<graph::GraphDialect, func::FuncDialect>();
  GraphMaker maker(choices, context, /*hasRoles=*/true);
  ProgramSpec spec;
  spec.seed = 1 + choices.below(1000);
  spec.forGpu = maker.floatType().isF32() && choices.chance(30);
  if (spec.forGpu)
    spec.dtype = choices.pick(kDtypes);
  if (!choices.chance(20))
    chooseTraining(maker, spec);
  addLayer(maker);
  maker.grow(kFamilies, 14);
  SmallVector<Value> results;
  addOutputs(maker, spec, results);
  addPlans(choices, spec);
  func::FuncOp step = maker.function();
  OwningOpRef<ModuleOp> module = maker.finish({});
  for (auto [i, value] : llvm::enumerate(results))
    graph::addResult(step, value, "o" + std::to_string(i), Role::Output);
  std::string text = textOf(spec);
  llvm::raw_string_ostream(text) << *module;
  report.begin(text);
  if (failed(verify(*module)))
    return report.fail("invalid: the generator made a program that does not verify");
  std::string wrong = checkProgram(text, report.counts.data());
  if (!wrong.empty())
    report.fail(wrong);
}

int replay(const std::string &path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  Report &report = *sharedReport();
  bool passed = runGuarded(report, [&] {
    std::string wrong = checkProgram(text.str(), report.counts.data());
    if (!wrong.empty())
      report.fail(wrong);
  });
  if (!passed)
    std::fprintf(stderr, "%s: %s\n", path.c_str(), report.message);
  return passed ? 0 : 1;
}

} // namespace
} // namespace cleave::fuzz

int main(int argc, char **argv) {
  cleave::fuzz::CampaignOptions options;
  options.name = "programs";
  options.counted = {"programs",          "plans",
                     "unusable",          "infeasible plans",
                     "gradients",         "gradients at corners",
                     "elements compared", "elements undecided"};
  return cleave::fuzz::runTool(argc, argv, options, cleave::fuzz::experiment, cleave::fuzz::replay);
}
