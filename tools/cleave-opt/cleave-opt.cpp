// cleave-opt: every pass on its own, on MLIR in text form, for lit tests and for study.
#include "dialects/graph/Step.h"
#include "dialects/mesh/MeshDialect.h"
#include "dialects/program/Program.h"
#include "passes/autodiff/Autodiff.h"
#include "passes/bufferize/Bufferize.h"
#include "passes/codegen/cpu/CpuCodegen.h"
#include "passes/codegen/gpu/GpuCodegen.h"
#include "passes/decompose/BatchMoments.h"
#include "passes/decompose/Decompose.h"
#include "passes/decompose/DirectConvolutions.h"
#include "passes/decompose/LongReductions.h"
#include "passes/decompose/SpaceToDepth.h"
#include "passes/fuse/Fuse.h"
#include "passes/precision/Precision.h"
#include "passes/promise/Promise.h"
#include "passes/remat/Realise.h"
#include "passes/schedule/Bucket.h"
#include "passes/schedule/Order.h"
#include "passes/schedule/Queues.h"
#include "passes/shard/Partition.h"
#include "passes/shard/Plan.h"
#include "passes/simplify/Simplify.h"
#include "passes/train/Train.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

static void registerCleavesPasses() {
  cleave::autodiff::registerAutodiffPasses();
  cleave::decompose::registerDecomposePasses();
  cleave::decompose::registerDirectConvolutionsPass();
  cleave::decompose::registerLongReductionsPass();
  cleave::decompose::registerBatchMomentsPass();
  cleave::decompose::registerSpaceToDepthPass();
  cleave::bufferize::registerBufferizePasses();
  cleave::codegen::registerCpuCodegenPasses();
  cleave::codegen::registerGpuCodegenPasses();
  cleave::fuse::registerFusePasses();
  cleave::train::registerTrainPasses();
  cleave::precision::registerPrecisionPasses();
  cleave::promise::registerPromisePasses();
  cleave::remat::registerRematPasses();
  cleave::schedule::registerBucketPass();
  cleave::schedule::registerQueuesPass();
  cleave::schedule::registerOrderPass();
  cleave::shard::registerPartitionPass();
  cleave::shard::registerPlanPass();
  cleave::simplify::registerSimplifyPasses();
}

// --help: Cleave's passes come first; the options of LLVM's libraries are left to --help-hidden.
static void prepareHelp(int argc, char **argv) {
  if (std::none_of(argv + 1, argv + argc, [](llvm::StringRef arg) {
        return arg == "--help" || arg == "-help" || arg == "-h";
      }))
    return;
  llvm::outs()
      << "OVERVIEW: Cleave's passes, one by one, on MLIR in text form.\n\nCLEAVE'S PASSES:\n";
  mlir::printRegisteredPasses();
  llvm::outs() << "\n";
  for (auto &[name, option] : llvm::cl::getRegisteredOptions())
    if (name != "help" && name != "version")
      option->setHiddenFlag(llvm::cl::Hidden);
}

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<cleave::graph::GraphDialect, cleave::mesh::MeshDialect,
                  cleave::program::ProgramDialect, mlir::func::FuncDialect,
                  mlir::arith::ArithDialect, mlir::math::MathDialect>();
  registerCleavesPasses();
  prepareHelp(argc, argv);
  mlir::registerTransformsPasses();
  llvm::cl::AddExtraVersionPrinter(
      [](llvm::raw_ostream &out) { out << "cleave-opt " << CLEAVE_VERSION << "\n"; });
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Cleave's passes, one by one\n", registry));
}
