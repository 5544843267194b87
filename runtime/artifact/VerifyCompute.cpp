// The instruction rule for kernels, matmuls and convolutions: operands have the dtypes and sizes
// that the work needs, results overlap no operand, and the work is bounded by the buffers. See
// Verify.h.
#include "runtime/artifact/Access.h"
#include "runtime/artifact/KernelSignature.h"
#include "runtime/artifact/Mesh.h"
#include "runtime/artifact/Modules.h"
#include "runtime/artifact/VerifyRules.h"
#include "runtime/base/ProductType.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace cleave::artifact {

const plan::Buffer &at(const ProgramView &view, uint32_t buffer) {
  return view.program.buffers(int(buffer));
}

std::string quoted(const ProgramView &view, uint32_t buffer) {
  return "'" + at(view, buffer).name() + "'";
}

bool shareBytes(const plan::Buffer &a, const plan::Buffer &b) {
  return a.arena() == b.arena() && a.offset() < b.offset() + b.bytes() &&
         b.offset() < a.offset() + a.bytes();
}

// The limits are those of all GPUs from compute capability 8.0 on.
static Status verifyGrid(const plan::Plan &plan, const plan::Kernel &kernel) {
  constexpr uint32_t kMostBlocks = std::numeric_limits<int32_t>::max(), kMostThreads = 1024,
                     kMostShared = 48 << 10;
  const plan::Grid &grid = kernel.grid();
  if (kernel.has_grid() != (plan.device() == kCuda))
    return Status::defect("it has ", kernel.has_grid() ? "a" : "no", " grid and is for ",
                          plan.device());
  if (!kernel.has_grid())
    return Status::ok();
  if (grid.blocks() > kMostBlocks || grid.threads() - 1 >= kMostThreads ||
      grid.shared_bytes() > kMostShared || kernel.extent() != 0)
    return Status::defect("its grid of ", grid.blocks(), " x ", grid.threads(), " threads with ",
                          grid.shared_bytes(), " bytes and the extent ", kernel.extent(),
                          " is none, expected up to ", kMostBlocks, " x ", kMostThreads, " with ",
                          kMostShared, " bytes, and no extent");
  return Status::ok();
}

static Status verifyKernel(const plan::Plan &plan, const plan::Kernel &kernel) {
  if (kernel.symbol() != symbolOf(nameOf(kernel), kernel, plan.mesh()))
    return Status::defect("its symbol does not belong to its signature: ",
                          signatureOf(kernel, plan.mesh()));
  if (kernel.extent() < 0)
    return Status::defect("it has the extent ", kernel.extent());
  CLEAVE_TRY(verifyGrid(plan, kernel));
  if (!(kernel.flops() >= 0) || !(kernel.bytes() >= 0) || !std::isfinite(kernel.flops()) ||
      !std::isfinite(kernel.bytes()))
    return Status::defect("its cost is ", kernel.flops(), " FLOPs and ", kernel.bytes(), " bytes");
  for (const plan::KernelParameter &parameter : kernel.parameters())
    if (byteSize(parameter.dtype()) == 0)
      return Status::defect("a parameter has no dtype");
  if (kernel.instances() > 0 && kernel.parameters_size() % int64_t(kernel.instances()) != 0)
    return Status::defect("its ", kernel.parameters_size(), " parameters cannot be divided among ",
                          kernel.instances(), " instances");
  return Status::ok();
}

Status verifyKernels(const ProgramView &view) {
  for (const plan::Kernel &kernel : view.program.kernels())
    CLEAVE_TRY(verifyKernel(view.plan, kernel)
                   .withContext(concat("rank ", view.rank, ", kernel '", kernel.symbol(), "'")));
  return Status::ok();
}

// Operand `i` of a launch against the parameter of its kernel.
static Status verifyOperand(const ProgramView &view, const plan::Launch &launch, int i,
                            const plan::KernelParameter &parameter) {
  const plan::Buffer &buffer = at(view, launch.buffers(i));
  if (buffer.dtype() != parameter.dtype() || buffer.bytes() < parameter.bytes())
    return Status::defect("its operand ", i, " is '", buffer.name(), "', ", buffer.bytes(),
                          " bytes of ", dtypeName(buffer.dtype()), "; its kernel needs ",
                          parameter.bytes(), " of ", dtypeName(parameter.dtype()));
  if (parameter.coordinates() && buffer.role() != plan::COORDINATES)
    return Status::defect("its operand ", i, " is '", buffer.name(), "' of role ",
                          roleName(buffer.role()), "; its kernel needs the coordinates");
  bool isWritten = std::count(launch.written().begin(), launch.written().end(), uint32_t(i)) == 1;
  if (isWritten != parameter.written())
    return Status::defect("it says that operand ", i, " is ", isWritten ? "" : "not ",
                          "written, its kernel the opposite");
  for (int j = 0; isWritten && j < launch.buffers_size(); ++j)
    if (i != j && shareBytes(buffer, at(view, launch.buffers(j))))
      return Status::defect("it writes '", buffer.name(), "' and has it as another operand, too");
  return Status::ok();
}

Status verifyLaunch(const ProgramView &view, const plan::Launch &launch) {
  if (launch.kernel() >= uint32_t(view.program.kernels_size()))
    return Status::defect("it launches kernel ", launch.kernel(), ", the program has ",
                          view.program.kernels_size());
  for (uint32_t position : launch.written())
    if (position >= uint32_t(launch.buffers_size()))
      return Status::defect("it writes operand ", position, ", it has ", launch.buffers_size());
  const plan::Kernel &kernel = view.program.kernels(int(launch.kernel()));
  if (launch.buffers_size() != kernel.parameters_size())
    return Status::defect("it has ", launch.buffers_size(), " operands, its kernel ",
                          kernel.parameters_size(), " parameters");
  // Every element of the range writes at least a byte, so the extent is at most the size of the
  // buffers.
  uint64_t bytes = 1;
  for (uint32_t buffer : launch.buffers())
    bytes += at(view, buffer).bytes();
  if (uint64_t(kernel.extent()) > bytes)
    return Status::defect("its kernel has extent ", kernel.extent(), " on buffers of ", bytes - 1,
                          " bytes");
  for (int i = 0; i < launch.buffers_size(); ++i)
    CLEAVE_TRY(verifyOperand(view, launch, i, kernel.parameters(i)));
  return Status::ok();
}

bool areDistinct(const plan::StridedOperand &operand, std::span<const int64_t> sizes) {
  std::vector<std::pair<int64_t, int64_t>> dims; // stride, size
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] > 1)
      dims.emplace_back(operand.strides(int(i)), sizes[i]);
  std::sort(dims.begin(), dims.end());
  int64_t last = 0; // offset of the last element along the dims so far
  for (auto [stride, size] : dims) {
    if (stride <= last)
      return false;
    last += stride * (size - 1);
  }
  return true;
}

// The work is bounded by the buffers: out has as many elements as are computed, and lhs or rhs as
// many as are added up for each of them.
static Status verifyWork(const ProgramView &view, const plan::Matmul &matmul) {
  const plan::Buffer &out = at(view, matmul.out().buffer());
  google::protobuf::RepeatedField<int64_t> sizes = matmul.batch();
  sizes.Add(matmul.m()), sizes.Add(matmul.n());
  CLEAVE_TRY(verifySizes(sizes));
  int64_t computed = elementCount(sizes), room = int64_t(out.bytes() / byteSize(out.dtype()));
  if (computed > room)
    return Status::defect("it computes ", computed, " elements, its out ",
                          quoted(view, matmul.out().buffer()), " has ", room);
  if (computed > 0 && !areDistinct(matmul.out(), std::span(sizes.data(), size_t(sizes.size()))))
    return Status::defect("its out ", quoted(view, matmul.out().buffer()),
                          " has several elements in one place");
  int columns = matmul.batch_size() + 1, rows = matmul.batch_size();
  if (computed > 0 && matmul.k() > 1 && matmul.lhs().strides(columns) == 0 &&
      matmul.rhs().strides(rows) == 0)
    return Status::defect("it adds up ", matmul.k(), " times the same product");
  return Status::ok();
}

Status verifyScalar(const ProgramView &view, uint32_t buffer) {
  if (at(view, buffer).dtype() == plan::I64 && at(view, buffer).bytes() >= sizeof(int64_t))
    return Status::ok();
  return Status::defect("its ", quoted(view, buffer), " is not an i64 scalar");
}

Status verifyProduct(const ProgramView &view, uint32_t first, uint32_t second, uint32_t product) {
  auto dtypeAt = [&](uint32_t buffer) { return at(view, buffer).dtype(); };
  if (dtypeAt(first) == dtypeAt(second) &&
      isProductType(static_cast<DType>(dtypeAt(product)), static_cast<DType>(dtypeAt(first))))
    return Status::ok();
  return Status::defect("it multiplies ", quoted(view, first), ", ", dtypeName(dtypeAt(first)),
                        ", by ", quoted(view, second), ", ", dtypeName(dtypeAt(second)), ", to ",
                        quoted(view, product), ", ", dtypeName(dtypeAt(product)),
                        "; expected one dtype, or f32 for the product of 16-bit floats");
}

static Status verifyTf32(const ProgramView &view, bool tf32, uint32_t factor) {
  const plan::Buffer &buffer = at(view, factor);
  return !tf32 || buffer.dtype() == plan::F32
             ? Status::ok()
             : Status::defect("it multiplies in tf32, but ", quoted(view, factor), " is ",
                              dtypeName(buffer.dtype()), ", expected f32");
}

static Status verifyBias(const ProgramView &view, const plan::Matmul &matmul) {
  if (matmul.bias().empty())
    return Status::ok();
  if (matmul.bias_size() > 1)
    return Status::defect("it has ", matmul.bias_size(), " biases, expected at most one");
  const uint32_t bias = matmul.bias(0), out = matmul.out().buffer();
  if (at(view, bias).dtype() != at(view, out).dtype())
    return Status::defect("its bias ", quoted(view, bias), " is ",
                          dtypeName(at(view, bias).dtype()), ", expected ",
                          dtypeName(at(view, out).dtype()), " as its out ", quoted(view, out));
  const int64_t stride = matmul.out().strides(matmul.batch_size() + 1);
  if (matmul.n() > 1 && stride != 1)
    return Status::defect("the columns of its out ", quoted(view, out), " are ", stride,
                          " elements apart, expected 1, since it has a bias");
  return Status::ok();
}

Status verifyMatmul(const ProgramView &view, const plan::Matmul &matmul) {
  std::vector<int64_t> sizes(matmul.batch().begin(), matmul.batch().end());
  sizes.resize(sizes.size() + 2);
  struct {
    const plan::StridedOperand &operand;
    int64_t rows, columns;
    const char *name;
  } operands[] = {{matmul.lhs(), matmul.m(), matmul.k(), "lhs"},
                  {matmul.rhs(), matmul.k(), matmul.n(), "rhs"},
                  {matmul.out(), matmul.m(), matmul.n(), "out"}};
  for (auto &[operand, rows, columns, name] : operands) {
    sizes[sizes.size() - 2] = rows, sizes[sizes.size() - 1] = columns;
    if (reachOf(operand, sizes) < 0)
      return Status::defect("its ", name,
                            " needs one non-negative stride per batch dim, row and column");
  }
  CLEAVE_TRY(
      verifyProduct(view, matmul.lhs().buffer(), matmul.rhs().buffer(), matmul.out().buffer()));
  CLEAVE_TRY(verifyTf32(view, matmul.tf32(), matmul.lhs().buffer()));
  CLEAVE_TRY(verifyWork(view, matmul));
  CLEAVE_TRY(verifyBias(view, matmul));
  std::vector<uint32_t> read{matmul.lhs().buffer(), matmul.rhs().buffer()};
  read.insert(read.end(), matmul.bias().begin(), matmul.bias().end());
  for (uint32_t operand : read)
    if (shareBytes(at(view, operand), at(view, matmul.out().buffer())))
      return Status::defect("its out ", quoted(view, matmul.out().buffer()),
                            " overlaps its operand ", quoted(view, operand));
  return Status::ok();
}

// All sizes of a convolution have 31 bits, so that no computation with them overflows.
static Status verifyNumbers(const plan::Convolution &c) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  for (const auto *sizes : {&c.input_shape(), &c.weight_shape(), &c.output_shape()}) {
    CLEAVE_TRY(verifySizes(*sizes));
    for (int64_t size : *sizes)
      if (size > kMost)
        return Status::defect("it has a dim of size ", size, ", expected at most ", kMost);
  }
  for (const auto *numbers : {&c.strides(), &c.dilations(), &c.pads_low(), &c.pads_high()})
    for (int64_t number : *numbers)
      if (number > kMost || number < -kMost)
        return Status::defect("it has the stride, dilation or pad ", number, ", expected at most ",
                              kMost);
  return c.groups() <= kMost ? Status::ok() : Status::defect("it has ", c.groups(), " groups");
}

Status verifyConvolution(const ProgramView &view, const plan::Convolution &c) {
  if (!plan::Convolution::Kind_IsValid(c.kind()))
    return Status::defect("its kind ", int(c.kind()), " does not exist");
  CLEAVE_TRY(verifyNumbers(c));
  int spatial = c.input_shape_size() - 2;
  for (int size : {c.weight_shape_size() - 2, c.output_shape_size() - 2, c.strides_size(),
                   c.dilations_size(), c.pads_low_size(), c.pads_high_size()})
    if (size != spatial || spatial < 1)
      return Status::defect("its shapes, strides, dilations and pads differ in rank");
  if (c.groups() < 1 || c.weight_shape(1) * c.groups() != c.input_shape(1) ||
      c.weight_shape(0) != c.output_shape(1) || c.weight_shape(0) % c.groups() != 0 ||
      c.input_shape(0) != c.output_shape(0))
    return Status::defect("its batch, channels or groups do not agree");
  for (int i = 0; i < spatial; ++i) {
    if (c.strides(i) < 1 || c.dilations(i) < 1)
      return Status::defect("its strides and dilations must be at least 1");
    int64_t padded = c.input_shape(i + 2) + c.pads_low(i) + c.pads_high(i);
    int64_t window = c.dilations(i) * (c.weight_shape(i + 2) - 1) + 1;
    if (padded < window || (padded - window) / c.strides(i) + 1 != c.output_shape(i + 2))
      return Status::defect("its output's spatial dim ", i, " does not follow from its input");
  }
  ConvolutionRoles roles = rolesOf(c);
  for (uint32_t buffer : roles.reads)
    if (shareBytes(at(view, buffer), at(view, roles.written)))
      return Status::defect("its result ", quoted(view, roles.written), " overlaps its operand ",
                            quoted(view, buffer));
  CLEAVE_TRY(verifyTf32(view, c.tf32(), roles.reads[0]));
  return verifyProduct(view, roles.reads[0], roles.reads[1], roles.written);
}

} // namespace cleave::artifact
