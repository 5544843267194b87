// One module per case: its function's op is moved into a program.kernel.
#include "KernelHarness.h"

#include "test/unit/graph_text/Elements.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Parser/Parser.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <regex>

using namespace mlir;

namespace cleave::test {

std::string sized(const std::string &text, int64_t rows, int64_t columns) {
  std::string out;
  for (char c : text)
    out += c == 'N' ? std::to_string(rows) : c == 'M' ? std::to_string(columns) : std::string(1, c);
  return out;
}

std::string tensorText(std::initializer_list<int> sizes, const std::string &type) {
  std::string text = "tensor<";
  for (int size : sizes)
    text += std::to_string(size) + "x";
  return text + type + ">";
}

std::string ofType(const std::string &text, const std::string &type) {
  return std::regex_replace(text, std::regex("([x<])T>"), "$01" + type + ">");
}

const char *const kSoftmax = R"(func.func @f(%x: tensor<NxMxf32>) -> tensor<NxMxf32> {
  %r = graph.fusion (%a = %x : tensor<NxMxf32>) -> (tensor<NxMxf32>) {
    %m = graph.reduce max %a over [1] : tensor<NxMxf32> -> tensor<Nxf32>
    %mb = graph.broadcast %m to [0] : tensor<Nxf32> -> tensor<NxMxf32>
    %d = graph.sub %a, %mb : tensor<NxMxf32>
    %e = graph.exp %d : tensor<NxMxf32>
    %s = graph.reduce sum %e over [1] : tensor<NxMxf32> -> tensor<Nxf32>
    %sb = graph.broadcast %s to [0] : tensor<Nxf32> -> tensor<NxMxf32>
    %q = graph.div %e, %sb : tensor<NxMxf32>
    graph.yield %q : tensor<NxMxf32>
  }
  return %r : tensor<NxMxf32>
})";

namespace {

using Bytes = std::vector<char>;

Tensor randomTensor(Type type, const KernelCase &testCase, std::mt19937 &random) {
  Tensor tensor(graph::toElementType(graph::elementTypeOf(type)), graph::staticShapeOf(type));
  std::uniform_real_distribution<double> real(testCase.low, testCase.high);
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.set(i, tensor.type == ElementType::Bool ? real(random) > 0 : real(random));
  return tensor;
}

// Elements from one row to the next: of tensors with rows, a multiple of `pitch`.
int64_t rowLength(ArrayRef<int64_t> shape, int64_t pitch) {
  return shape.empty() ? 1 : shape.size() == 1 ? shape.back() : llvm::alignTo(shape.back(), pitch);
}

// The strides of an operand or result, by its number.
SmallVector<int64_t> stridesOf(ArrayRef<int64_t> shape, const KernelCase &testCase, int number) {
  SmallVector<int64_t> strides(shape.size(), 1);
  if (testCase.channelsLast) {
    strides[0] = llvm::product_of(shape.drop_front());
    for (size_t d = shape.size() - 1, next = shape[1]; d > 1; next *= shape[d--])
      strides[d] = int64_t(next);
    return strides;
  }
  SmallVector<int64_t> sizes(shape);
  const size_t rank = shape.size();
  const bool isTransposed = llvm::is_contained(testCase.transposed, number);
  if (isTransposed)
    std::swap(sizes[rank - 2], sizes[rank - 1]);
  for (size_t d = rank; d-- > 1;)
    strides[d - 1] = d + 1 == rank ? rowLength(sizes, testCase.pitch) : strides[d] * sizes[d];
  if (isTransposed)
    std::swap(strides[rank - 2], strides[rank - 1]);
  return strides;
}

// Memory that begins at a multiple of 64, as the kernels may assume.
struct Memory {
  Memory(const Tensor &tensor, const KernelCase &testCase, int number)
      : type(tensor.type), shape(tensor.shape), strides(stridesOf(shape, testCase, number)) {
    int64_t last = 0;
    for (auto [size, stride] : llvm::zip(shape, strides))
      last += std::max<int64_t>(0, size - 1) * stride;
    bytes =
        static_cast<char *>(std::aligned_alloc(64, ((last + 1) * byteSize(type) + 127) / 64 * 64));
    for (int64_t i = 0; i < tensor.size(); ++i)
      storeElement(type, bytes + placeOf(i) * byteSize(type), tensor.values[i]);
  }
  int64_t placeOf(int64_t i) const {
    int64_t place = 0;
    for (size_t d = shape.size(); d-- > 0; i /= shape[d])
      place += i % shape[d] * strides[d];
    return place;
  }
  double at(int64_t i) const { return loadElement(type, bytes + placeOf(i) * byteSize(type)); }
  Memory(Memory &&other)
      : type(other.type), shape(other.shape), strides(other.strides),
        bytes(std::exchange(other.bytes, nullptr)) {}
  ~Memory() { std::free(bytes); }
  ElementType type;
  std::vector<int64_t> shape;
  SmallVector<int64_t> strides;
  char *bytes;
};

// A kernel op made of the function's op; results lie in buffers of their own or where an operand
// lies.
program::KernelOp buildKernel(func::FuncOp function, const KernelCase &testCase) {
  Operation *op = &function.getBody().front().front();
  OpBuilder b(function);
  SmallVector<Attribute> operands, results;
  int64_t buffers = 0;
  auto viewOf = [&](int64_t buffer, Type type, int number) {
    return program::ViewAttr::get(
        b.getContext(), buffer, 0,
        stridesOf(cast<RankedTensorType>(type).getShape(), testCase, number));
  };
  const int arguments = static_cast<int>(function.getNumArguments());
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    operands.push_back(viewOf(buffers, type, static_cast<int>(i)));
    ++buffers;
  }
  for (auto [i, type] : llvm::enumerate(op->getResultTypes())) {
    auto place = testCase.inPlace.find(i);
    int64_t buffer = place == testCase.inPlace.end() ? buffers++ : place->second;
    results.push_back(viewOf(buffer, type, arguments + static_cast<int>(i)));
  }
  auto kernel = program::KernelOp::create(
      b, function.getLoc(), b.getStringAttr("kernel"), b.getI64IntegerAttr(buffers),
      b.getArrayAttr(operands), b.getArrayAttr(results), IntegerAttr(), DenseI64ArrayAttr(),
      FloatAttr(), FloatAttr(), IntegerAttr());
  Block &body = kernel.getBody().emplaceBlock();
  IRMapping mapping;
  for (BlockArgument argument : function.getArguments())
    mapping.map(argument, body.addArgument(argument.getType(), argument.getLoc()));
  OpBuilder::atBlockEnd(&body).clone(*op, mapping);
  return kernel;
}

double difference(const Tensor &expected, const Memory &found, double worst) {
  for (int64_t i = 0; i < expected.size(); ++i) {
    double a = expected.values[i], b = found.at(i);
    if (a == b || (std::isnan(a) && std::isnan(b)))
      continue;
    double d = std::fabs(a - b) / std::max(1.0, std::fabs(a));
    worst = std::isnan(d) ? std::numeric_limits<double>::infinity() : std::max(worst, d);
  }
  return worst;
}

// Random operands, and those that are given.
std::vector<Tensor> operandsOf(program::KernelOp kernel, const KernelCase &testCase) {
  std::mt19937 random(1);
  std::vector<Tensor> operands;
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    operands.push_back(randomTensor(argument.getType(), testCase, random));
    auto given = testCase.given.find(static_cast<int>(argument.getArgNumber()));
    if (given != testCase.given.end())
      operands.back().values = given->second;
  }
  return operands;
}

// The buffers after the kernel has run in so many parts; nothing after a fault.
std::vector<Memory> runOn(const CompiledKernel &compiled, const KernelCase &testCase,
                          const std::vector<Tensor> &operands, int parts) {
  program::KernelOp kernel = compiled.op();
  std::vector<Memory> memory;
  for (const Tensor &operand : operands)
    memory.emplace_back(operand, testCase, static_cast<int>(memory.size()));
  for (auto [i, type] : llvm::enumerate(kernel.getComputation().getResultTypes()))
    if (!testCase.inPlace.count(static_cast<int>(i))) {
      Tensor garbage(graph::toElementType(graph::elementTypeOf(type)), graph::staticShapeOf(type),
                     77);
      memory.emplace_back(garbage, testCase, static_cast<int>(operands.size() + i));
    }
  std::vector<void *> pointers;
  for (const Memory &m : memory)
    pointers.push_back(m.bytes);
  const int64_t extent = compiled.extent();
  for (int part = parts - 1; part >= 0; --part)
    if (!compiled.run(pointers.data(), extent * part / parts, extent * (part + 1) / parts))
      return {};
  return memory;
}

double runAndCompare(const CompiledKernel &compiled, const KernelCase &testCase, int parts) {
  program::KernelOp kernel = compiled.op();
  Operation &op = kernel.getComputation();
  const std::vector<Tensor> operands = operandsOf(kernel, testCase);
  SmallVector<Tensor> inputs;
  for (Value operand : op.getOperands())
    inputs.push_back(operands[cast<BlockArgument>(operand).getArgNumber()]);
  SmallVector<Tensor> expected = cast<graph::ReferenceInterface>(op).evaluate(inputs);
  const std::vector<Memory> memory = runOn(compiled, testCase, operands, parts);
  double worst = memory.empty() ? std::numeric_limits<double>::infinity() : 0;
  for (auto [i, tensor] : llvm::enumerate(expected))
    if (!memory.empty())
      worst = difference(tensor, memory[kernel.getResultView(i).getBuffer()], worst);
  return worst;
}

} // namespace

std::unique_ptr<CompiledKernel> CompiledKernel::build(const KernelCase &testCase) {
  std::unique_ptr<CompiledKernel> made(new CompiledKernel());
  made->context_.loadDialect<graph::GraphDialect, program::ProgramDialect, func::FuncDialect>();
  made->module_ = parseSourceString<ModuleOp>(testCase.text, &made->context_);
  if (!made->module_)
    return nullptr;
  made->op_ = buildKernel(*made->module_->getOps<func::FuncOp>().begin(), testCase);
  return made;
}

std::unique_ptr<CompiledKernel> CompiledKernel::compile(const KernelCase &testCase) {
  std::unique_ptr<CompiledKernel> made = build(testCase);
  if (made)
    made->code_ = compileCode(made->op_);
  return made && made->code_ ? std::move(made) : nullptr;
}

bool CompiledKernel::run(void *const *buffers, int64_t begin, int64_t end) const {
  std::string fault = code_->run(buffers, begin, end);
  if (!fault.empty())
    std::fprintf(stderr, "%s\n", fault.c_str());
  return fault.empty();
}

std::vector<double> resultsOf(const KernelCase &testCase) {
  std::unique_ptr<CompiledKernel> kernel = CompiledKernel::compile(testCase);
  if (!kernel)
    return {};
  const std::vector<Memory> memory =
      runOn(*kernel, testCase, operandsOf(kernel->op(), testCase), 1);
  std::vector<double> elements;
  if (!memory.empty()) {
    const Memory &result = memory[kernel->op().getResultView(0).getBuffer()];
    for (int64_t i = 0; i < llvm::product_of(result.shape); ++i)
      elements.push_back(result.at(i));
  }
  return elements;
}

double worstDifference(const KernelCase &testCase) {
  std::unique_ptr<CompiledKernel> kernel = CompiledKernel::compile(testCase);
  if (!kernel)
    return std::numeric_limits<double>::infinity();
  return std::max(runAndCompare(*kernel, testCase, 1), runAndCompare(*kernel, testCase, 3));
}

} // namespace cleave::test
