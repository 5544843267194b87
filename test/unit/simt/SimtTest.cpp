// The interpreter itself: it computes, and finds each kind of fault.
#include "test/unit/simt/Simt.h"

#include <catch2/catch.hpp>

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

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
