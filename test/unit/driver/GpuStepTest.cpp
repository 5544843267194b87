// Whole training steps of a plan for GPUs, without one: its kernels run in the interpreter of GPU
// threads, its products in plain loops, convolutions and attention of the libraries on the CPU
// device, in the order of the instructions. The losses are those of the plan for CPUs of the same
// model.
#include "dialects/program/Program.h"
#include "passes/codegen/gpu/GpuCodegen.h"
#include "passes/driver/Compile.h"
#include "runtime/artifact/Access.h"
#include "runtime/artifact/KernelSignature.h"
#include "runtime/artifact/Modules.h"
#include "runtime/base/AttentionScratch.h"
#include "runtime/base/Float16.h"
#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/device/cpu/KernelLibrary.h"
#include "runtime/executor/TensorLoader.h"
#include "test/unit/driver/Models.h"
#include "test/unit/simt/Simt.h"

#include <catch2/catch.hpp>

#include "llvm/IR/Module.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>

using namespace cleave;

namespace {

// Runs a kernel on buffers; returns a fault, or nothing.
using RunKernel = std::function<std::string(const plan::Kernel &, const std::vector<void *> &)>;

// Runs the steps of a plan for one rank. Products are f32 or bf16.
class StepRunner {
public:
  StepRunner(const plan::Plan &plan, RunKernel runKernel)
      : plan_(plan), program_(plan.programs(0)), runKernel_(std::move(runKernel)),
        arena_(program_.arenas(0).bytes() / sizeof(Line) + 1) {
    executor::TensorLoader loader(plan, "");
    for (const plan::Buffer &buffer : program_.buffers())
      if (artifact::isPersistent(buffer) && buffer.tensor() >= 0)
        REQUIRE(loader.load(plan.tensors(buffer.tensor()), 0, at(buffer)).isOk());
  }

  double step() {
    for (const plan::ScheduleStep &scheduled : program_.schedule())
      for (const plan::Instruction &each :
           program_.segments(static_cast<int>(scheduled.segment())).instructions())
        run(each);
    return loss_;
  }

private:
  struct alignas(64) Line {
    char bytes[64];
  };

  char *at(const plan::Buffer &buffer) { return arena_.front().bytes + buffer.offset(); }
  char *at(uint32_t buffer) { return at(program_.buffers(static_cast<int>(buffer))); }

  void run(const plan::Instruction &instruction) {
    INFO(artifact::kindName(instruction) << " of " << instruction.name());
    if (instruction.has_launch())
      launch(instruction.launch());
    else if (instruction.has_matmul())
      multiply(instruction.matmul());
    else if (instruction.has_convolution())
      convolve(instruction.convolution());
    else if (instruction.has_attention())
      attend(instruction.attention());
    else if (instruction.has_grouped_matmul())
      multiplyGroups(instruction.grouped_matmul());
    else if (instruction.has_fill())
      fill(program_.buffers(static_cast<int>(instruction.fill().buffer())),
           instruction.fill().value());
    else if (instruction.has_copy())
      std::memcpy(at(instruction.copy().to()), at(instruction.copy().from()),
                  program_.buffers(static_cast<int>(instruction.copy().from())).bytes());
    else if (instruction.has_load_input())
      load(program_.buffers(static_cast<int>(instruction.load_input().buffer())));
    else if (instruction.has_metric())
      loss_ = *reinterpret_cast<const float *>(at(instruction.metric().buffer()));
    else
      FAIL("an instruction that this model does not have");
  }

  void launch(const plan::Launch &launch) {
    std::vector<void *> buffers;
    for (uint32_t buffer : launch.buffers())
      buffers.push_back(at(buffer));
    std::string fault = runKernel_(program_.kernels(static_cast<int>(launch.kernel())), buffers);
    INFO(fault);
    REQUIRE(fault.empty());
  }

  void convolve(const plan::Convolution &c) {
    const artifact::ConvolutionRoles roles = artifact::rolesOf(c);
    auto typeOf = [&](uint32_t buffer) {
      return static_cast<DType>(program_.buffers(static_cast<int>(buffer)).dtype());
    };
    auto action = device_->convolution(c, {.dtype = typeOf(roles.reads[0]),
                                           .resultDtype = typeOf(roles.written),
                                           .input = at(c.input()),
                                           .weight = at(c.weight()),
                                           .output = at(c.output())});
    REQUIRE(action.isOk());
    REQUIRE(device_->finishPreparing().isOk());
    REQUIRE((*action)->run().isOk());
  }

  void attend(const plan::Attention &a) {
    auto place = [&](bool isPresent, const plan::StridedOperand &operand) -> void * {
      return isPresent ? at(operand.buffer()) : nullptr;
    };
    const auto dtype = DType(program_.buffers(static_cast<int>(a.query().buffer())).dtype());
    REQUIRE((!a.has_mask() && !a.has_bias() && a.seed().empty() && a.offsets().empty()));
    device::AttentionOperands operands{.dtype = dtype,
                                       .biasDtype = dtype,
                                       .query = at(a.query().buffer()),
                                       .key = at(a.key().buffer()),
                                       .value = at(a.value().buffer()),
                                       .result = at(a.result().buffer()),
                                       .lse = at(a.lse().buffer()),
                                       .grad = place(a.has_grad(), a.grad()),
                                       .queryGrad = place(a.has_grad(), a.query_grad()),
                                       .keyGrad = place(a.has_grad(), a.key_grad()),
                                       .valueGrad = place(a.has_grad(), a.value_grad())};
    // CPUs need scratch memory; plans for GPUs have a workspace instead.
    std::vector<char> scratch(attentionScratchBytes(artifact::sizesOf(a), byteSize(dtype)));
    operands.scratch = scratch.data();
    auto action = device_->attention(a, operands);
    REQUIRE(action.isOk());
    REQUIRE(device_->finishPreparing().isOk());
    REQUIRE((*action)->run().isOk());
  }

  void multiplyGroups(const plan::GroupedMatmul &m) {
    auto typeOf = [&](uint32_t buffer) {
      return static_cast<DType>(program_.buffers(static_cast<int>(buffer)).dtype());
    };
    const uint32_t written = (m.weight_gradient() ? m.weight() : m.output()).buffer();
    REQUIRE((m.first_row().empty() && m.first_group().empty()));
    auto action = device_->groupedMatmul(m, {.dtype = typeOf(m.input().buffer()),
                                             .resultDtype = typeOf(written),
                                             .endsDtype = typeOf(m.ends()),
                                             .input = at(m.input().buffer()),
                                             .weight = at(m.weight().buffer()),
                                             .output = at(m.output().buffer()),
                                             .ends = at(m.ends())});
    REQUIRE(action.isOk());
    REQUIRE(device_->finishPreparing().isOk());
    REQUIRE((*action)->run().isOk());
  }

  void fill(const plan::Buffer &buffer, double value) {
    for (int64_t i = 0; i < artifact::elementCount(buffer.shape()); ++i)
      elementAt(buffer, i).set(static_cast<float>(value));
  }

  void multiply(const plan::Matmul &p) {
    int64_t products = artifact::elementCount(p.batch());
    for (int64_t product = 0; product < products; ++product)
      for (int64_t m = 0; m < p.m(); ++m)
        for (int64_t n = 0; n < p.n(); ++n) {
          float sum = 0;
          for (int64_t k = 0; k < p.k(); ++k)
            sum +=
                element(p, p.lhs(), product, m, k).get() * element(p, p.rhs(), product, k, n).get();
          for (uint32_t bias : p.bias())
            sum += elementOf(bias, n).get();
          element(p, p.out(), product, m, n).set(sum);
        }
  }

  struct Element {
    char *at;
    bool isLow; // bf16, else f32

    float get() const { return isLow ? fromBF16(bits<uint16_t>()) : floatOf(bits<uint32_t>()); }
    void set(float value) const {
      const uint32_t wide = bitsOf(value);
      const uint16_t low = toBF16(value);
      if (isLow)
        std::memcpy(at, &low, sizeof low);
      else
        std::memcpy(at, &wide, sizeof wide);
    }
    template <typename T> T bits() const {
      T value;
      std::memcpy(&value, at, sizeof value);
      return value;
    }
  };

  // An element of an operand; `product` is the row-major number of its matrix in the batch.
  Element element(const plan::Matmul &p, const plan::StridedOperand &operand, int64_t product,
                  int64_t row, int64_t column) {
    const int dims = p.batch_size();
    int64_t offset =
        operand.offset() + row * operand.strides(dims) + column * operand.strides(dims + 1);
    for (int dim = dims - 1; dim >= 0; product /= p.batch(dim--))
      offset += product % p.batch(dim) * operand.strides(dim);
    return elementOf(operand.buffer(), offset);
  }

  Element elementOf(uint32_t number, int64_t offset) {
    return elementAt(program_.buffers(static_cast<int>(number)), offset);
  }
  Element elementAt(const plan::Buffer &buffer, int64_t offset) {
    REQUIRE((buffer.dtype() == plan::BF16 || buffer.dtype() == plan::F32));
    const bool isLow = buffer.dtype() == plan::BF16;
    return {at(buffer) + offset * (isLow ? 2 : 4), isLow};
  }

  // Class labels, or numbers between -1 and 1.
  void load(const plan::Buffer &buffer) {
    const int64_t count = artifact::elementCount(buffer.shape());
    const int64_t classes = std::max<int64_t>(1, plan_.tensors(buffer.tensor()).vocabulary());
    for (int64_t i = 0; i < count; ++i)
      if (buffer.dtype() == plan::I64)
        reinterpret_cast<int64_t *>(at(buffer))[i] = i * 7 % classes;
      else
        reinterpret_cast<float *>(at(buffer))[i] = static_cast<float>(std::sin(double(i)));
  }

  const plan::Plan &plan_;
  const plan::Program &program_;
  RunKernel runKernel_;
  std::unique_ptr<device::Device> device_ = device::makeCpuDevice(1);
  std::vector<Line> arena_;
  double loss_ = NAN;
};

std::unique_ptr<driver::Compilation> compiled(const ModelCase &model, const std::string &device,
                                              const std::string &dtype, bool decomposes,
                                              bool direct = false) {
  ModelFile file(model);
  driver::CompileOptions options = optionsOf(file.path(), model, {1});
  options.device = device;
  options.dtype = dtype;
  options.decomposeAttention = decomposes;
  options.directConvolution = direct;
  auto c = std::make_unique<driver::Compilation>(std::move(options));
  Status status = driver::compileTo(*c, "artifact");
  INFO((status ? "" : status.message()));
  REQUIRE(status.isOk());
  return c;
}

std::string runThreads(const codegen::GpuIr &ir, const plan::Kernel &kernel,
                       const std::vector<void *> &buffers) {
  std::vector<test::CheckedMemory> memory;
  for (int i = 0; i < kernel.parameters_size(); ++i) {
    const char *first = static_cast<const char *>(buffers[i]);
    memory.emplace_back("buffer " + std::to_string(i),
                        std::vector<char>(first, first + kernel.parameters(i).bytes()), true);
  }
  llvm::Function *code = ir.llvm.module->getFunction(artifact::entryOf(kernel));
  REQUIRE(code);
  std::string fault = test::runSimt(*code, kernel.grid().blocks(),
                                    static_cast<int>(kernel.grid().threads()), memory);
  for (int i = 0; i < kernel.parameters_size(); ++i)
    std::memcpy(buffers[i], memory[i].bytes().data(), memory[i].bytes().size());
  return fault;
}

} // namespace

// The model on two samples.
static ModelCase ofTwo(ModelCase model) {
  model.symbols["batch"] = 2;
  return model;
}

// Returns the plan for GPUs.
static plan::Plan checkSteps(const ModelCase &model, int steps, const std::string &dtype = "f32",
                             double tolerance = 1e-5, bool direct = true,
                             bool decomposesAttention = true) {
  auto gpu = compiled(model, "cuda:sm_90", dtype, decomposesAttention, direct),
       cpu = compiled(model, "cpu", dtype, decomposesAttention);
  mlir::SmallVector<program::KernelOp> kernels(gpu->module().getOps<program::KernelOp>());
  Result<codegen::GpuIr> ir = codegen::lowerForGpu(kernels, "sm_90");
  REQUIRE(ir.isOk());
  StepRunner threads(gpu->plan,
                     [&](const plan::Kernel &kernel, const std::vector<void *> &buffers) {
                       return runThreads(*ir, kernel, buffers);
                     });
  const plan::Module *module = artifact::cpuModuleOf(cpu->plan);
  REQUIRE(module);
  device::KernelLibrary library;
  REQUIRE(library.load(module->code(), module->machine()).isOk());
  StepRunner plain(cpu->plan, [&](const plan::Kernel &kernel, const std::vector<void *> &buffers) {
    (*library.find(kernel.symbol()))(buffers.data(), 0, kernel.extent());
    return std::string();
  });
  const double first = plain.step();
  CHECK(threads.step() == Approx(first).epsilon(tolerance));
  for (int step = 1; step < steps; ++step)
    CHECK(threads.step() == Approx(plain.step()).epsilon(10 * tolerance));
  CHECK(plain.step() < first);
  return gpu->plan;
}

static const plan::Convolution &firstConvolution(const plan::Plan &plan) {
  for (const plan::Instruction &each : plan.programs(0).segments(0).instructions())
    if (each.has_convolution())
      return each.convolution();
  FAIL("the plan has no convolution");
  return plan::Convolution::default_instance();
}

static void checkPatches() {
  const plan::Plan plan = checkSteps(
      {"vit_b_16",
       "softmax-cross-entropy:logits",
       {{"batch", 2}},
       {{"image", 48}, {"layers", 1}, {"hidden", 32}, {"heads", 2}, {"ffn", 16}, {"classes", 10}}},
      2, "bf16", 3e-3, /*direct=*/false,
      /*decomposesAttention=*/false);
  CHECK(firstConvolution(plan).input_shape(1) == 3 * 16 * 16);
}

static void checkExperts() {
  const plan::Plan plan =
      checkSteps({"../golden/experts-top2.pt2", "softmax-cross-entropy", {{"batch", 4}}, {}}, 2,
                 "f32", 1e-5, /*direct=*/true, /*decomposesAttention=*/false);
  CHECK(llvm::count_if(plan.programs(0).kernels(), [](const plan::Kernel &kernel) {
          return kernel.symbol().find("_grouped_") != std::string::npos;
        }) == 6); // two products of an expert, and their gradients
}

TEST_CASE("steps of a plan for GPUs, interpreted, have the losses of the plan for CPUs") {
  SECTION("of an MLP") { checkSteps(ofTwo(bundledCases()[0]), 4); }
  SECTION("of a GPT with attention and embeddings") { checkSteps(ofTwo(bundledCases()[1]), 2); }
  SECTION("of a ResNet with direct convolutions") { checkSteps(ofTwo(bundledCases()[4]), 2); }
  SECTION("of a ResNet in bf16 with channels-last convolutions") {
    const plan::Plan plan = checkSteps(ofTwo(bundledCases()[4]), 2, "bf16", 3e-3, /*direct=*/false);
    int convolutions = 0;
    for (const plan::Instruction &each : plan.programs(0).segments(0).instructions()) {
      convolutions += each.has_convolution();
      CHECK(each.has_convolution() == each.convolution().channels_last());
    }
    CHECK(convolutions > 0);
    CHECK(firstConvolution(plan).input_shape(1) == 8); // of 3
    // Reordered are only gradients of weights.
    const plan::Program &program = plan.programs(0);
    for (const plan::Instruction &each : program.segments(0).instructions())
      if (each.has_launch() &&
          program.kernels(int(each.launch().kernel())).symbol().find("_copy") != std::string::npos)
        CHECK(program.buffers(int(each.launch().buffers(0))).name() == "conv_weight_grad");
  }
  SECTION("of a ViT in bf16 whose patches become channels") { checkPatches(); }
  SECTION("of a mixture of experts whose products are grouped") { checkExperts(); }
  SECTION("of a GPT in bf16 whose logits have a pitch, and whose products add biases") {
    const plan::Plan plan = checkSteps(
        {"gpt2",
         "softmax-cross-entropy:logits",
         {{"batch", 2}, {"seq", 4}},
         {{"layers", 1}, {"hidden", 8}, {"heads", 2}, {"ffn", 16}, {"vocab", 515}, {"context", 4}}},
        2, "bf16", 1e-3);
    CHECK(llvm::any_of(plan.programs(0).buffers(), [](const plan::Buffer &buffer) {
      return buffer.dtype() == plan::BF16 && buffer.shape_size() == 3 && buffer.shape(2) == 576;
    }));
    CHECK(
        llvm::any_of(plan.programs(0).segments(0).instructions(),
                     [](const plan::Instruction &each) { return !each.matmul().bias().empty(); }));
  }
  SECTION("of a Llama in bf16 whose attention is the library's") {
    const plan::Plan plan =
        checkSteps({"llama2-7b",
                    "softmax-cross-entropy:logits",
                    {{"batch", 2}, {"seq", 12}},
                    {{"layers", 1},
                     {"hidden", 32},
                     {"heads", 4},
                     {"kv-heads", 2},
                     {"ffn", 16},
                     {"vocab", 32}}},
                   2, "bf16", 1e-3, /*direct=*/true, /*decomposesAttention=*/false);
    int64_t instructions = 0;
    for (const plan::Segment &segment : plan.programs(0).segments())
      for (const plan::Instruction &instruction : segment.instructions())
        instructions += instruction.has_attention();
    CHECK(instructions == 2);
  }
}
