// The interpreter itself: it computes, and finds each kind of fault.
#include "test/unit/simt/Simt.h"
#include "runtime/base/Float16.h"

#include <catch2/catch.hpp>

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

#include <array>
#include <cmath>
#include <cstring>

using namespace cleave::test;

namespace {

constexpr int kThreads = 64;

// Runs one block of kernel @f(ptr %x) with this body, on 64 numbers 0, 1, … of 32 bits. The body
// finds the thread in %t and the address of its number in %own; @s is shared memory of 64 numbers.
struct Run {
  std::string fault;
  std::vector<int32_t> numbers = std::vector<int32_t>(kThreads);
};

Run run(const std::string &body) {
  std::string text = R"(
    target datalayout = "e-p3:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"
    @s = internal addrspace(3) global [64 x i32] undef
    declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
    declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
    declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)
    declare float @llvm.vector.reduce.fmaximum.v2f32(<2 x float>)
    declare float @llvm.vector.reduce.fminimum.v2f32(<2 x float>)
    define void @f(ptr %x) {
      %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      %own = getelementptr i32, ptr %x, i32 %t
      %mine = getelementptr i32, ptr addrspace(3) @s, i32 %t
      %flipped = xor i32 %t, 63
      %other = getelementptr i32, ptr addrspace(3) @s, i32 %flipped
      %v = load i32, ptr %own
    )" + body + "\n}";
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, error, context);
  INFO(error.getMessage().str());
  REQUIRE(module);
  std::vector<char> bytes(kThreads * 4);
  for (int32_t i = 0; i < kThreads; ++i)
    std::memcpy(&bytes[i * 4], &i, 4);
  std::vector<CheckedMemory> buffers = {{"buffer 0", bytes, /*defined=*/true}};
  Run result;
  result.fault = runSimt(*module->getFunction("f"), 1, kThreads, buffers);
  std::memcpy(result.numbers.data(), buffers[0].bytes().data(), bytes.size());
  return result;
}

const std::string kBarrier = "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";

} // namespace

TEST_CASE("threads exchange values through shared memory and shuffles") {
  Run reversed = run("store i32 %v, ptr addrspace(3) %mine\n" + kBarrier +
                     "%w = load i32, ptr addrspace(3) %other\nstore i32 %w, ptr %own\nret void");
  CHECK(reversed.fault == "");
  CHECK(reversed.numbers[3] == 60);
  Run swapped = run("%w = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %v, i32 1, i32 31)\n"
                    "store i32 %w, ptr %own\nret void");
  CHECK(swapped.fault == "");
  CHECK(swapped.numbers[6] == 7);
}

TEST_CASE("vectors have a largest and a smallest lane") {
  const std::string lanes =
      "%f = sitofp i32 %v to float\n"
      "%p = insertelement <2 x float> <float 5.0, float 5.0>, float %f, i32 0\n";
  Run span = run(lanes + "%max = call float @llvm.vector.reduce.fmaximum.v2f32(<2 x float> %p)\n"
                         "%min = call float @llvm.vector.reduce.fminimum.v2f32(<2 x float> %p)\n"
                         "%span = fsub float %max, %min\n"
                         "%r = fptosi float %span to i32\nstore i32 %r, ptr %own\nret void");
  CHECK(span.fault == "");
  CHECK(span.numbers[3] == 2);
  CHECK(span.numbers[9] == 4);
}

TEST_CASE("a missing barrier is found") {
  Run early = run("store i32 %v, ptr addrspace(3) %mine\n"
                  "%w = load i32, ptr addrspace(3) %other\nstore i32 %w, ptr %own\nret void");
  CHECK(early.fault.find("reads uninitialised byte") != std::string::npos);
  Run again = run("store i32 %v, ptr addrspace(3) %mine\n" + kBarrier +
                  "%w = load i32, ptr addrspace(3) %other\nstore i32 %w, ptr addrspace(3) %mine\n"
                  "ret void");
  CHECK(again.fault.find("races with a write of thread 31: reads") != std::string::npos);
}

TEST_CASE("a race between threads is found") {
  Run both = run("store i32 %v, ptr %x\nret void");
  CHECK(both.fault.find("races with") != std::string::npos);
}

TEST_CASE("an access outside of a buffer is found") {
  Run beyond =
      run("%next = getelementptr i32, ptr %own, i32 1\n%w = load i32, ptr %next\nret void");
  CHECK(beyond.fault.find("reads outside of the array byte 256") != std::string::npos);
  Run before = run("%last = getelementptr i32, ptr %x, i32 -1\nstore i32 1, ptr %last\nret void");
  CHECK(before.fault.find("writes outside of the array byte -4") != std::string::npos);
}

TEST_CASE("an access that is not aligned as it says is found") {
  Run wide = run("%w = load <4 x i32>, ptr %own, align 16\nret void");
  CHECK(wide.fault.find("not aligned to 16") != std::string::npos);
}

TEST_CASE("a barrier or a shuffle that some threads do not reach is found") {
  const std::string odd = "%o = trunc i32 %t to i1\nbr i1 %o, label %a, label %b\na:\n";
  Run barrier = run(odd + kBarrier + "br label %b\nb:\nret void");
  CHECK(barrier.fault.find("does not take part in a barrier") != std::string::npos);
  Run shuffle =
      run(odd + "%w = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %v, i32 1, i32 31)\n"
                "br label %b\nb:\nret void");
  CHECK(shuffle.fault.find("does not take part in a shuffle") != std::string::npos);
}

namespace {

// The registers of a product of matrices per lane: four words of a, two of b, four sums, and where
// the four results go. The layout is copied from the figures of the PTX ISA for m16n8k16.
struct Registers {
  uint32_t a[4] = {}, b[2] = {};
  float sums[4] = {}, results[4] = {};
};

float elementOfA(int row, int column) { return static_cast<float>(row - column % 5); }
float elementOfB(int row, int column) { return static_cast<float>(2 * column - row % 3); }

uint32_t word(float low, float high) {
  return uint32_t(cleave::toBF16(high)) << 16 | cleave::toBF16(low);
}

std::vector<Registers> registersOfWarp() {
  std::vector<Registers> warp(32);
  for (int lane = 0; lane < 32; ++lane) {
    const int g = lane >> 2, t = lane & 3;
    auto a = [&](int row, int column) {
      return word(elementOfA(row, column), elementOfA(row, column + 1));
    };
    auto b = [&](int row) { return word(elementOfB(row, g), elementOfB(row + 1, g)); };
    warp[lane] = {{a(g, 2 * t), a(g + 8, 2 * t), a(g, 2 * t + 8), a(g + 8, 2 * t + 8)},
                  {b(2 * t), b(2 * t + 8)},
                  {1, 2, 3, 4},
                  {}};
  }
  return warp;
}

// Runs the instruction; `order` is that of the registers of a.
std::vector<Registers> multiplied(const std::array<int, 4> &order) {
  std::string text = R"(
    target datalayout = "e-p3:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"
    declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
    declare { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.bf16(
      i32, i32, i32, i32, i32, i32, float, float, float, float)
    define void @f(ptr %x) {
      %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
)";
  auto line = [&](const std::string &more) { text += "  " + more + "\n"; };
  for (int i = 0; i < 14; ++i) {
    const std::string n = std::to_string(i);
    line("%p" + n + " = getelementptr [14 x i32], ptr %x, i32 %t, i32 " + n);
    if (i < 10)
      line("%r" + n + " = load " + (i < 6 ? "i32" : "float") + ", ptr %p" + n);
  }
  std::string call = "%d = call { float, float, float, float } "
                     "@llvm.nvvm.mma.m16n8k16.row.col.bf16(";
  for (int i = 0; i < 10; ++i)
    call += (i ? ", " : "") + std::string(i < 6 ? "i32 %r" : "float %r") +
            std::to_string(i < 4 ? order[i] : i);
  line(call + ")");
  for (int i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i);
    line("%d" + n + " = extractvalue { float, float, float, float } %d, " + n);
    line("store float %d" + n + ", ptr %p" + std::to_string(10 + i));
  }
  text += "  ret void\n}";
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, error, context);
  INFO(error.getMessage().str());
  REQUIRE(module);
  std::vector<Registers> warp = registersOfWarp();
  std::vector<char> bytes(warp.size() * sizeof(Registers));
  std::memcpy(bytes.data(), warp.data(), bytes.size());
  std::vector<CheckedMemory> buffers = {{"buffer 0", bytes, /*defined=*/true}};
  CHECK(runSimt(*module->getFunction("f"), 1, 32, buffers) == "");
  std::memcpy(warp.data(), buffers[0].bytes().data(), bytes.size());
  return warp;
}

// The largest difference to the product of the two matrices.
float worstOf(const std::vector<Registers> &warp) {
  float worst = 0;
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      const int row = (lane >> 2) + (i < 2 ? 0 : 8), column = 2 * (lane & 3) + (i & 1);
      auto sum = static_cast<float>(i + 1);
      for (int k = 0; k < 16; ++k)
        sum += elementOfA(row, k) * elementOfB(k, column);
      worst = std::max(worst, std::abs(sum - warp[lane].results[i]));
    }
  return worst;
}

} // namespace

TEST_CASE("a warp multiplies matrices that are spread over its lanes") {
  CHECK(worstOf(multiplied({0, 1, 2, 3})) == 0);
  CHECK(worstOf(multiplied({1, 0, 2, 3})) > 0);
  CHECK(worstOf(multiplied({0, 2, 1, 3})) > 0);
}
