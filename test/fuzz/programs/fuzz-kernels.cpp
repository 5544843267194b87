// fuzz-kernels: compares random graphs of ops, grouped by the rules of passes/fuse and compiled to
// kernels on random layouts, with the interpreter. With files as arguments, replays the kernels in
// them.
#include "passes/fuse/Fuse.h"
#include "test/fuzz/programs/GraphMaker.h"
#include "test/fuzz/programs/KernelCase.h"
#include "test/fuzz/programs/Options.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace cleave::fuzz {

namespace {

const std::vector<GraphMaker::Family> kFamilies = {
    addUnary,   addBinary,  addReduction, addBroadcast, addNorm,  addReduction,
    addBinary,  addSelect,  addCast,      addUnitDim,   addCount, addBroadcast,
    addInteger, addUnary,   addBinary,    addReduction, addNorm,  addTranspose,
    addGather,  addScatter, addScan,      addSort,      addPool};

// The results: all values without a user, and some others.
SmallVector<Value> anyResults(GraphMaker &m) {
  SmallVector<Value> results;
  for (Value value : m.values())
    if (value.getDefiningOp() && (value.use_empty() || m.choose().chance(15)))
      results.push_back(value);
  return results;
}

std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

bool isKernel(Operation &op) {
  return isa<graph::FusionOp, graph::GatherOp, graph::ScatterOp, graph::ScanOp, graph::SortOp,
             graph::PoolOp>(op);
}

void experiment(Choices &choices, Report &report) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<graph::GraphDialect, program::ProgramDialect, func::FuncDialect>();
  GraphMaker maker(choices, context, /*hasRoles=*/false);
  maker.grow(kFamilies, 40);
  OwningOpRef<ModuleOp> graph = maker.finish(anyResults(maker));
  report.begin(textOf(*graph));
  if (failed(verify(*graph)))
    return report.fail("invalid: the generator made a graph that does not verify");
  fuse::formGroups(maker.function());
  if (failed(verify(*graph)))
    return report.fail("grouping: the groups do not verify");
  OwningOpRef<ModuleOp> kernels = ModuleOp::create(UnknownLoc::get(&context));
  int64_t groups = 0;
  for (Operation &op : maker.function().getBody().front()) {
    if (!isKernel(op))
      continue;
    bool isGroup = isa<graph::FusionOp>(op);
    for (int layout = 0; layout < (isGroup ? 3 : 1); ++layout) {
      layOut(choices, *kernels, op,
             "k" + std::to_string(std::distance(kernels->getOps<program::KernelOp>().begin(),
                                                kernels->getOps<program::KernelOp>().end())));
      groups += isGroup;
    }
  }
  report.begin(textOf(*kernels));
  bool checked = !choices.chance(25); // unchecked kernels are vectorized
  std::string wrong = checkKernels(*kernels, 1 + choices.below(1000), checked, &report.counts[2]);
  if (!wrong.empty())
    return report.fail(wrong);
  report.counts[checked ? 0 : 1] += groups;
}

// 0 if all kernels of the file compute the results of the interpreter.
int replay(const std::string &path) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<graph::GraphDialect, program::ProgramDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(path, &context);
  if (!module)
    return 1;
  Report &report = *sharedReport();
  bool passed = runGuarded(report, [&] {
    for (uint64_t seed = 1; seed <= 3; ++seed)
      if (std::string wrong = checkKernels(*module, seed, seed % 2 == 1, &report.counts[2]);
          !wrong.empty())
        return report.fail(wrong);
  });
  if (!passed)
    std::fprintf(stderr, "%s: %s\n", path.c_str(), report.message);
  return passed ? 0 : 1;
}

} // namespace
} // namespace cleave::fuzz

int main(int argc, char **argv) {
  cleave::fuzz::CampaignOptions options;
  options.name = "kernels";
  options.counted = {"checked groups", "groups as they run", "kernels", "elements compared",
                     "elements undecided"};
  return cleave::fuzz::runTool(argc, argv, options, cleave::fuzz::experiment, cleave::fuzz::replay);
}
