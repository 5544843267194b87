// Faults that are seeded into generated kernels are found by the interpreter: the checks of the
// other tests can fail.
#include "compiler/artifact/ExportKernel.h"
#include "passes/codegen/gpu/GpuCodegen.h"
#include "runtime/base/Float16.h"
#include "test/unit/codegen/KernelHarness.h"
#include "test/unit/simt/Simt.h"

#include <catch2/catch.hpp>

#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

#include <cstring>
#include <random>

using namespace cleave;

namespace {

// A softmax whose rows are shared by several warps.
constexpr int kRowCount = 2, kRowLength = 1000;

std::string softmax() { return test::sized(test::kSoftmax, kRowCount, kRowLength); }

using Change = std::function<bool(llvm::Instruction &)>;

// Calls `change` for the instructions of the kernel until it returns true, and runs the kernel on
// zeros, or on what `fill` makes. Returns the fault; fails if nothing was changed.
using Fill = std::function<std::vector<char>(size_t bytes)>;
std::string faultOf(const std::string &text, const Change &change, const Fill &fill = {},
                    std::vector<test::CheckedMemory> *after = nullptr) {
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
                        fill ? fill(parameter.bytes()) : std::vector<char>(parameter.bytes()),
                        !parameter.written());
  std::string fault = test::runSimt(code, function.launch.blocks, function.launch.threads, memory);
  if (after)
    *after = std::move(memory);
  return fault;
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

namespace {

// One head whose keys fill a tile, with a matrix instruction in each of its parts.
const std::string kAttention =
    "func.func @f(%q: tensor<1x1x16x16xbf16>, %k: tensor<1x1x64x16xbf16>, "
    "%v: tensor<1x1x64x16xbf16>) -> (tensor<1x1x16x16xbf16>, tensor<1x1x16xf32>) {\n"
    "%r:2 = graph.attention %q, %k, %v {scale = 1.0 : f64} : (tensor<1x1x16x16xbf16>, "
    "tensor<1x1x64x16xbf16>, tensor<1x1x64x16xbf16>) -> (tensor<1x1x16x16xbf16>, "
    "tensor<1x1x16xf32>)\nreturn %r#0, %r#1 : tensor<1x1x16x16xbf16>, tensor<1x1x16xf32>\n}";

// The attention's result with a change of its kernel, on numbers in [-1, 1].
std::vector<double> attentionWith(const Change &change) {
  std::minstd_rand random(1);
  auto fill = [&](size_t bytes) {
    std::vector<char> numbers(bytes);
    for (size_t i = 0; i < bytes; i += 2) {
      uint16_t number = toBF16(static_cast<float>(random() % 2001) / 1000 - 1);
      std::memcpy(&numbers[i], &number, 2);
    }
    return numbers;
  };
  std::vector<test::CheckedMemory> memory;
  std::string fault = faultOf(kAttention, change, fill, &memory);
  INFO(fault);
  CHECK(fault == "");
  std::vector<double> result;
  for (size_t i = 0; i < memory[3].bytes().size(); i += 2) {
    uint16_t number = 0;
    std::memcpy(&number, &memory[3].bytes()[i], 2);
    result.push_back(fromBF16(number));
  }
  return result;
}

bool isProduct(const llvm::Instruction &op) {
  return intrinsicOf(op) == llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_bf16;
}

} // namespace

TEST_CASE("exchanged registers of any factor of a matrix instruction are found") {
  const std::vector<double> right = attentionWith([](llvm::Instruction &) { return true; });
  for (auto [a, b] : {std::pair(0, 1), {0, 2}, {1, 3}, {4, 5}, {0, 4}}) {
    std::vector<double> wrong = attentionWith([&, a = a, b = b](llvm::Instruction &op) {
      if (!isProduct(op))
        return false;
      llvm::Value *first = op.getOperand(a);
      op.setOperand(a, op.getOperand(b));
      op.setOperand(b, first);
      return true;
    });
    double worst = 0;
    for (size_t i = 0; i < right.size(); ++i)
      worst = std::max(worst, std::abs(right[i] - wrong[i]));
    INFO("registers " << a << " and " << b);
    CHECK(worst > 1.0 / 64);
  }
}

TEST_CASE("a load of other matrices is found") {
  const std::vector<double> right = attentionWith([](llvm::Instruction &) { return true; });
  auto isLoad = [](const llvm::Instruction &op, bool isTransposed) {
    return intrinsicOf(op) == (isTransposed
                                   ? llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16
                                   : llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16);
  };
  for (bool isTransposed : {false, true}) {
    std::vector<double> wrong = attentionWith([&](llvm::Instruction &op) {
      if (!isLoad(op, isTransposed))
        return false;
      auto &call = llvm::cast<llvm::CallInst>(op);
      call.setCalledFunction(llvm::Intrinsic::getOrInsertDeclaration(
          op.getModule(),
          isTransposed ? llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16
                       : llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16,
          {call.getArgOperand(0)->getType()}));
      return true;
    });
    CHECK(wrong != right);
  }
}
