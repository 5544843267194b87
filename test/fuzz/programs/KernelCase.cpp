#include "test/fuzz/programs/KernelCase.h"

#include "compiler/artifact/ExportKernel.h"
#include "passes/codegen/cpu/CpuCodegen.h"
#include "test/fuzz/programs/Ensemble.h"
#include "test/fuzz/programs/GuardedMemory.h"
#include "test/unit/graph_text/Elements.h"

#include "mlir/IR/IRMapping.h"

#include <dlfcn.h>
#include <unistd.h>

using namespace mlir;

namespace cleave::fuzz {

namespace {

using KernelFunction = void (*)(void *const *, int64_t, int64_t);

struct LoadedLibrary {
  explicit LoadedLibrary(const std::string &bytes) {
    int file = memfd_create("kernels", 0);
    if (::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()))
      handle = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
    close(file);
  }
  ~LoadedLibrary() {
    if (handle)
      dlclose(handle);
  }
  void *handle = nullptr;
};

// The kernel's computation as a function of its arguments.
func::FuncOp functionOf(program::KernelOp kernel) {
  Operation &op = kernel.getComputation();
  OpBuilder b(kernel.getContext());
  auto function = func::FuncOp::create(
      kernel.getLoc(), "kernel",
      b.getFunctionType(kernel.getBody().getArgumentTypes(), op.getResultTypes()));
  Block *block = function.addEntryBlock();
  b.setInsertionPointToEnd(block);
  IRMapping mapping;
  mapping.map(kernel.getBody().getArguments(), block->getArguments());
  SmallVector<Value> results;
  if (auto fusion = dyn_cast<graph::FusionOp>(op)) {
    Block &body = fusion.getBody().front();
    for (auto [argument, operand] : llvm::zip(body.getArguments(), fusion.getOperands()))
      mapping.map(argument, mapping.lookup(operand));
    for (Operation &inner : body.without_terminator())
      b.clone(inner, mapping);
    for (Value value : body.getTerminator()->getOperands())
      results.push_back(mapping.lookup(value));
  } else {
    llvm::append_range(results, b.clone(op, mapping)->getResults());
  }
  func::ReturnOp::create(b, kernel.getLoc(), results);
  return function;
}

// The number of rows of the table that an op's indices select from; 0 for other operands.
int64_t rowsBehind(Operation &op, Value operand) {
  if (auto gather = dyn_cast<graph::GatherOp>(op); gather && gather.getIndices() == operand)
    return graph::staticShapeOf(gather.getOperand())[gather.getDim()];
  if (auto scatter = dyn_cast<graph::ScatterOp>(op); scatter && scatter.getIndices() == operand)
    return graph::staticShapeOf(scatter.getResult())[scatter.getDim()];
  return 0;
}

Tensor anyTensor(Operation &op, Value operand, std::mt19937_64 &random) {
  Tensor tensor(graph::toElementType(graph::elementTypeOf(operand)), graph::staticShapeOf(operand));
  int64_t rows = rowsBehind(op, operand);
  bool isUnsigned = graph::elementTypeOf(operand).isUnsignedInteger();
  double low = rows ? -1 : isUnsigned ? 0 : -3, high = rows ? static_cast<double>(rows) + 1 : 9;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    if (tensor.type == ElementType::Bool)
      tensor.set(i, unit < 0.5);
    else if (isFloat(tensor.type))
      tensor.set(i, 4 * unit - 2);
    else
      tensor.set(i, std::floor(low + unit * (high - low)));
  }
  return tensor;
}

// A tensor in one of a kernel's buffers.
struct Place {
  program::ViewAttr view;
  ElementType type;
  std::vector<int64_t> shape;

  template <typename Visit> void forEach(char *buffer, Visit visit) const {
    int64_t number = 0;
    forEachIndex(shape, [&](const std::vector<int64_t> &index) {
      int64_t at = view.getOffset();
      for (auto [i, stride] : llvm::zip(index, view.getStrides()))
        at += i * stride;
      visit(number++, buffer + at * byteSize(type));
    });
  }
  size_t bytes() const {
    int64_t last = view.getOffset();
    for (auto [size, stride] : llvm::zip(shape, view.getStrides())) {
      if (size == 0)
        return 0;
      last += std::max<int64_t>(0, (size - 1) * stride);
    }
    return static_cast<size_t>((last + 1) * byteSize(type));
  }
};

Place placeOf(program::ViewAttr view, Type type) {
  return {view, graph::toElementType(graph::elementTypeOf(type)), graph::staticShapeOf(type)};
}

class KernelRun {
public:
  KernelRun(program::KernelOp kernel, KernelFunction function, uint64_t seed)
      : kernel_(kernel), function_(function), seed_(seed) {
    for (auto [i, argument] : llvm::enumerate(kernel.getBody().getArguments()))
      operands_.push_back(placeOf(kernel.getOperandView(i), argument.getType()));
    for (auto [i, type] : llvm::enumerate(kernel.getComputation().getResultTypes()))
      results_.push_back(placeOf(kernel.getResultView(i), type));
  }

  std::string check(int64_t *count) {
    std::mt19937_64 random(seed_);
    std::vector<Ensemble> arguments;
    for (BlockArgument argument : kernel_.getBody().getArguments()) {
      Value operand = kernel_.getComputation().getOperand(argument.getArgNumber());
      arguments.push_back({anyTensor(kernel_.getComputation(), operand, random)});
    }
    OwningOpRef<func::FuncOp> function = functionOf(kernel_);
    auto expected = interpretEnsemble(*function, arguments, {std::vector<Tensor>()}, seed_);
    if (!expected)
      return expected.status().message();
    for (int parts : {1, 3}) {
      std::string wrong = run(arguments, *expected, parts, count);
      if (!wrong.empty())
        return "wrong: kernel " + kernel_.getSymName().str() + " in " + std::to_string(parts) +
               " parts: " + wrong;
    }
    ++count[0];
    return "";
  }

private:
  std::string run(const std::vector<Ensemble> &arguments, const std::vector<Ensemble> &expected,
                  int parts, int64_t *count) {
    std::vector<size_t> bytes(kernel_.getBuffers(), 0);
    for (const std::vector<Place> *places : {&operands_, &results_})
      for (const Place &place : *places)
        bytes[place.view.getBuffer()] = std::max(bytes[place.view.getBuffer()], place.bytes());
    std::vector<GuardedMemory> memory;
    std::vector<void *> pointers;
    for (size_t size : bytes) {
      memory.emplace_back(size);
      pointers.push_back(memory.back().data());
    }
    for (auto [place, argument] : llvm::zip(operands_, arguments))
      place.forEach(memory[place.view.getBuffer()].data(), [&](int64_t i, char *at) {
        test::storeElement(place.type, at, argument[0].values[i]);
      });
    std::vector<std::string> before;
    for (const GuardedMemory &m : memory)
      before.emplace_back(m.data(), m.bytes());
    int64_t extent = *kernel_.getExtent();
    for (int part = parts - 1; part >= 0; --part)
      function_(pointers.data(), extent * part / parts, extent * (part + 1) / parts);
    for (auto [number, place] : llvm::enumerate(results_)) {
      Tensor found(place.type, place.shape);
      std::string &untouched = before[place.view.getBuffer()];
      char *begin = memory[place.view.getBuffer()].data();
      place.forEach(begin, [&](int64_t i, char *at) {
        found.values[i] = test::loadElement(place.type, at);
        std::memcpy(untouched.data() + (at - begin), at, byteSize(place.type));
      });
      Comparison comparison = compare(expected[number], found);
      count[1] += comparison.compared;
      count[2] += comparison.undecided;
      if (comparison.wrong > 0)
        return "result " + std::to_string(number) + ", " + std::to_string(comparison.wrong) +
               " of " + std::to_string(found.size()) + " elements, " + comparison.first;
    }
    for (auto [buffer, m] : llvm::enumerate(memory))
      if (std::memcmp(m.data(), before[buffer].data(), m.bytes()) != 0)
        return "buffer " + std::to_string(buffer) + " is written outside of the results";
    return "";
  }

  program::KernelOp kernel_;
  KernelFunction function_;
  uint64_t seed_;
  std::vector<Place> operands_, results_;
};

} // namespace

std::string checkKernels(ModuleOp module, uint64_t seed, bool checked, int64_t *count) {
  SmallVector<program::KernelOp> kernels(module.getOps<program::KernelOp>());
  if (kernels.empty())
    return "";
  codegen::CpuOptions options;
  options.threads = 1;
  options.checked = checked;
  Result<codegen::CpuLibrary> library = codegen::compileKernels(kernels, options);
  if (!library)
    return "code generation: " + library.status().message();
  LoadedLibrary loaded(library->bytes);
  if (!loaded.handle)
    return std::string("the kernels cannot be loaded: ") + dlerror();
  for (program::KernelOp kernel : kernels) {
    auto function = reinterpret_cast<KernelFunction>(
        dlsym(loaded.handle, artifact::exportKernel(kernel).symbol().c_str()));
    std::string wrong = KernelRun(kernel, function, seed).check(count);
    if (!wrong.empty())
      return wrong;
  }
  return "";
}

} // namespace cleave::fuzz
