// Faults that are seeded into generated kernels are found by the interpreter: the checks of the
// other tests can fail.
#include "compiler/artifact/ExportKernel.h"
#include "passes/codegen/gpu/GpuCodegen.h"
#include "test/unit/codegen/KernelHarness.h"
#include "test/unit/simt/Simt.h"

#include <catch2/catch.hpp>

#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

using namespace cleave;

namespace {

// A softmax whose rows are shared by several warps.
constexpr int kRowCount = 2, kRowLength = 1000;

std::string softmax() { return test::sized(test::kSoftmax, kRowCount, kRowLength); }

using Change = std::function<bool(llvm::Instruction &)>;

// Calls `change` for the instructions of the kernel until it returns true, and runs the kernel on
// zeros. Returns the fault; fails if nothing was changed.
std::string faultOf(const std::string &text, const Change &change) {
  auto kernel = test::CompiledKernel::build({text});
  REQUIRE(kernel);
  Result<codegen::GpuIr> ir = codegen::lowerForGpu({kernel->op()}, "sm_90");
  REQUIRE(ir.isOk());
  const codegen::GpuFunction &function = ir->functions.front();
  llvm::Function &code = *ir->llvm.module->getFunction(function.symbol);
  bool isChanged = false;
  for (llvm::Instruction &op : llvm::make_early_inc_range(llvm::instructions(code)))
    isChanged = isChanged || change(op);
  REQUIRE(isChanged);
  std::vector<test::CheckedMemory> memory;
  plan::Kernel described = artifact::exportKernel(kernel->op());
  for (const plan::KernelParameter &parameter : described.parameters())
    memory.emplace_back("buffer " + std::to_string(memory.size()),
                        std::vector<char>(parameter.bytes()), !parameter.written());
  return test::runSimt(code, function.launch.blocks, function.launch.threads, memory);
}

llvm::Intrinsic::ID intrinsicOf(const llvm::Instruction &op) {
  auto *call = llvm::dyn_cast<llvm::CallInst>(&op);
  return call ? call->getIntrinsicID() : llvm::Intrinsic::not_intrinsic;
}

} // namespace

TEST_CASE("kernels without a seeded fault have none") {
  CHECK(faultOf(softmax(), [](llvm::Instruction &) { return true; }) == "");
}

TEST_CASE("each missing barrier of a kernel is found") {
  for (int barrier = 0; barrier < 2; ++barrier) {
    int seen = 0;
    std::string fault = faultOf(softmax(), [&](llvm::Instruction &op) {
      if (intrinsicOf(op) != llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all ||
          seen++ != barrier)
        return false;
      op.eraseFromParent();
      return true;
    });
    INFO(fault);
    CHECK(fault.find("shared memory") != std::string::npos);
  }
}

TEST_CASE("a wrong bound of a kernel is found") {
  std::string fault = faultOf(softmax(), [](llvm::Instruction &op) {
    auto *compare = llvm::dyn_cast<llvm::ICmpInst>(&op);
    auto *limit = compare ? llvm::dyn_cast<llvm::ConstantInt>(compare->getOperand(1)) : nullptr;
    if (!limit || limit->getZExtValue() < 2) // not the bound of a row
      return false;
    compare->setOperand(1, llvm::ConstantInt::get(limit->getType(), limit->getZExtValue() + 2));
    return true;
  });
  INFO(fault);
  CHECK(fault.find("outside of the array") != std::string::npos);
}

TEST_CASE("a race of a kernel is found") {
  // All lanes of a warp write its sum, where one should.
  std::string fault = faultOf(softmax(), [&](llvm::Instruction &op) {
    auto *store = llvm::dyn_cast<llvm::StoreInst>(&op);
    if (!store || store->getPointerAddressSpace() != 3)
      return false;
    llvm::BasicBlock *before = store->getParent()->getSinglePredecessor();
    if (!before)
      return false;
    auto *branch = before->getTerminator();
    if (branch->getNumSuccessors() != 2)
      return false;
    bool isThen = branch->getSuccessor(0) == store->getParent();
    branch->setOperand(0, llvm::ConstantInt::getBool(op.getContext(), isThen));
    return true;
  });
  INFO(fault);
  CHECK(fault.find("races with a write") != std::string::npos);
}
