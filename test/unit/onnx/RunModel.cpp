// See RunModel.h.
#include "test/unit/onnx/RunModel.h"

#include "compiler/frontend/onnx/file/Weights.h"
#include "compiler/interpret/Interpret.h"
#include "dialects/graph/KnownStrings.h"
#include "dialects/graph/Step.h"
#include "passes/simplify/Simplify.h"
#include "runtime/data/ArrayFile.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>

namespace cleave::onnx {
namespace {

Tensor fromBytes(ElementType type, std::vector<int64_t> shape, std::string_view bytes) {
  Tensor out(type, std::move(shape));
  for (int64_t i = 0; i < out.size(); ++i)
    out.values[i] = elementAt(bytes, type, i);
  return out;
}

std::string bytesAt(const std::string &path, uint64_t offset, uint64_t size) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(size, '\0');
  file.seekg(static_cast<std::streamoff>(offset));
  if (!file.read(bytes.data(), static_cast<std::streamsize>(size)))
    throw std::runtime_error("cannot read " + path);
  return bytes;
}

// The first value of an argument, from its origin.
Tensor initialValue(const graph::TensorOrigin &origin, ElementType type,
                    const std::vector<int64_t> &shape, const std::string &model) {
  using Kind = graph::TensorOrigin::Kind;
  if (origin.kind == Kind::Inline)
    return origin.data;
  if (origin.kind == Kind::Fill)
    return Tensor(type, shape, origin.fill);
  std::string path = model;
  if (!origin.path.empty())
    path = (std::filesystem::path(model).parent_path() / origin.path).string();
  std::vector<int64_t> stored = shape;
  for (size_t i = 0; i < origin.permutation.size(); ++i)
    stored[origin.permutation[i]] = shape[i];
  Tensor as = fromBytes(origin.element, stored, bytesAt(path, origin.offset, origin.bytes));
  if (origin.permutation.empty())
    return as;
  Tensor out(type, shape);
  std::vector<int64_t> strides = as.strides();
  int64_t i = 0;
  forEachIndex(shape, [&](const std::vector<int64_t> &index) {
    int64_t position = 0;
    for (size_t d = 0; d < index.size(); ++d)
      position += index[d] * strides[origin.permutation[d]];
    out.values[i++] = as.values[position];
  });
  return out;
}

Computed run(const std::string &path, const ImportOptions &options, const Arrays *inputs,
             After after) {
  Computed out;
  mlir::MLIRContext context;
  Result<Imported> imported = importOnnx(context, path, options);
  out.status = imported.status();
  if (!imported)
    return out;
  out.remarks = imported->remarks;
  for (const graph::KnownStrings &known : graph::knownStringsOf(*imported->module))
    out.strings[known.name] = known.elements;
  mlir::func::FuncOp step = graph::stepOf(*imported->module);
  if (after == After::Simplify && mlir::failed(simplify::simplify(step)))
    throw std::runtime_error("simplification fails");
  std::vector<Tensor> arguments;
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    std::vector<int64_t> shape = graph::staticShapeOf(step.getArgument(i));
    const std::string name = graph::argName(step, i).str();
    const std::optional<Role> role = graph::argRole(step, i);
    out.arguments.push_back({name, role, shape});
    if (!inputs)
      continue;
    ElementType type = graph::toElementType(graph::elementTypeOf(step.getArgument(i)));
    arguments.push_back(role == Role::Input
                            ? inputs->at(name)
                            : initialValue(*graph::originOf(step, i), type, shape, path));
  }
  if (!inputs)
    return out;
  Result<std::vector<Tensor>> results = interpret::run(step, arguments);
  out.status = results.status();
  for (unsigned i = 0; results && i < step.getNumResults(); ++i)
    out.outputs[graph::resultName(step, i).str()] = (*results)[i];
  return out;
}

} // namespace

Arrays readArrays(const std::string &path) {
  auto file = data::ArrayFile::open(path);
  if (!file)
    throw std::runtime_error(file.status().message());
  Arrays out;
  for (const data::ArrayView &array : (*file)->arrays())
    out[array.name] =
        fromBytes(array.dtype, array.shape,
                  {static_cast<const char *>(array.data), static_cast<size_t>(array.bytes())});
  return out;
}

Computed importModel(const std::string &path, const ImportOptions &options) {
  return run(path, options, nullptr, After::Nothing);
}

Computed runModel(const std::string &path, const ImportOptions &options, const Arrays &inputs,
                  After after) {
  return run(path, options, &inputs, after);
}

double difference(const Tensor &a, const Tensor &b) {
  if (a.shape != b.shape)
    return std::numeric_limits<double>::infinity();
  double most = 0;
  for (int64_t i = 0; i < a.size(); ++i) {
    double x = a.values[i], y = b.values[i];
    if (x == y || (std::isnan(x) && std::isnan(y)))
      continue;
    double now = std::fabs(x - y) / (1 + std::fabs(y));
    most = std::isnan(now) ? std::numeric_limits<double>::infinity() : std::max(most, now);
  }
  return most;
}

} // namespace cleave::onnx
