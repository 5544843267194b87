// Lints plans of large models for one GPU: idle multiprocessors, odd strides, unaligned workspaces.
#include "compiler/zoo/Zoo.h"
#include "passes/driver/Compile.h"
#include "runtime/base/Concat.h"
#include "runtime/base/DType.h"
#include "test/unit/driver/Models.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace cleave;

namespace {

constexpr uint32_t kProcessors = 132;      // of an H100
constexpr double kLarge = 9 << 19;         // 4.5 MiB that a launch reads and writes
constexpr uint64_t kWorkspaceBegins = 256; // what cuBLASLt asks for

constexpr char kLoss[] = "softmax-cross-entropy:logits";

// Models in bf16, with one or two layers of full size or all of ResNet-50, the number of large
// launches that leave multiprocessors idle, and the most small launches. In ResNet-50, two of the
// idle ones sum the squares of gradients, and one merges the statistics of two batch norms.
struct Large {
  ModelCase model;
  size_t idle, small;
};
const Large kModels[] = {
    {{"gpt2", kLoss, {{"batch", 16}, {"seq", 1024}}, {{"layers", 2}}}, 0, 17},
    {{"llama3-8b", kLoss, {{"batch", 4}, {"seq", 2048}}, {{"layers", 2}}}, 0, 15},
    {{"mixtral-8x7b", kLoss, {{"batch", 4}, {"seq", 1024}}, {{"layers", 1}}}, 0, 24},
    {{"vit_l_16", kLoss, {{"batch", 64}}, {{"layers", 2}}}, 0, 28},
    {{"resnet50", kLoss, {{"batch", 256}}, {{"classes", 1000}}}, 3, 169},
};

plan::Plan planOf(const ModelCase &model) {
  ModelFile file(model);
  driver::CompileOptions options = optionsOf(file.path(), model, {1});
  options.device = "";
  options.dtype = "bf16";
  driver::Compilation c(options);
  Status status = driver::compileTo(c, "artifact");
  INFO(model.name << ": " << (status ? "" : status.message()));
  REQUIRE(status.isOk());
  return c.plan;
}

// Launches that access more than kLarge bytes with fewer blocks than the GPU has multiprocessors.
std::vector<std::string> idleLaunches(const plan::Program &program) {
  std::vector<std::string> found;
  for (const plan::Segment &segment : program.segments())
    for (const plan::Instruction &instruction : segment.instructions()) {
      if (!instruction.has_launch())
        continue;
      const plan::Kernel &kernel = program.kernels(int(instruction.launch().kernel()));
      if (kernel.bytes() > kLarge && kernel.grid().blocks() < kProcessors)
        found.push_back(concat(instruction.name(), " (", kernel.symbol(), "): ",
                               kernel.grid().blocks(), " blocks for ", kernel.bytes(), " bytes"));
    }
  return found;
}

// Small kernels that a step launches, of which those that compute the same share launches.
constexpr double kSmall = 1 << 20; // bytes

size_t smallLaunches(const plan::Program &program) {
  size_t count = 0;
  for (const plan::Segment &segment : program.segments())
    for (const plan::Instruction &instruction : segment.instructions())
      count += instruction.has_launch() &&
               program.kernels(int(instruction.launch().kernel())).bytes() <= kSmall;
  return count;
}

// 16-bit products with a leading dim that is not a multiple of 8: loads of 16 bytes are impossible.
std::vector<std::string> oddProducts(const plan::Program &program) {
  auto isOdd = [&](const plan::StridedOperand &operand) {
    const int rank = operand.strides_size();
    const int64_t leading = std::max(operand.strides(rank - 2), operand.strides(rank - 1));
    const auto dtype = static_cast<DType>(program.buffers(int(operand.buffer())).dtype());
    return byteSize(dtype) == 2 && leading > 1 && leading % 8 != 0;
  };
  std::vector<std::string> found;
  for (const plan::Segment &segment : program.segments())
    for (const plan::Instruction &instruction : segment.instructions()) {
      const plan::Matmul &product = instruction.matmul();
      if (instruction.has_matmul() &&
          (isOdd(product.lhs()) || isOdd(product.rhs()) || isOdd(product.out())))
        found.push_back(instruction.name());
    }
  return found;
}

std::vector<std::string> unalignedWorkspaces(const plan::Program &program) {
  std::vector<std::string> found;
  for (const plan::Buffer &buffer : program.buffers())
    if (buffer.role() == plan::WORKSPACE && buffer.offset() % kWorkspaceBegins != 0)
      found.push_back(concat(buffer.name(), " begins at byte ", buffer.offset()));
  return found;
}

} // namespace

TEST_CASE("plans of large models fill a GPU, and align what its libraries write") {
  for (const Large &large : kModels) {
    const plan::Plan plan = planOf(large.model);
    const std::vector<std::string> idle = idleLaunches(plan.programs(0)),
                                   odd = oddProducts(plan.programs(0));
    INFO(large.model.name << ": " << Catch::Detail::stringify(idle)
                          << Catch::Detail::stringify(odd));
    CHECK(idle.size() == large.idle);
    CHECK(smallLaunches(plan.programs(0)) <= large.small);
    CHECK(odd == std::vector<std::string>());
    CHECK(unalignedWorkspaces(plan.programs(0)) == std::vector<std::string>());
  }
}
