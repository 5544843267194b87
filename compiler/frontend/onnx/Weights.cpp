// See Weights.h.
#include "compiler/frontend/onnx/Weights.h"

#include "compiler/frontend/onnx/Failure.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstring>

namespace cleave::onnx {
namespace {

std::unique_ptr<llvm::MemoryBuffer> mapFile(const std::string &path, const std::string &what) {
  llvm::sys::fs::file_status status;
  if (std::error_code error = llvm::sys::fs::status(path, status))
    fail(what + " cannot be read: " + error.message());
  if (!llvm::sys::fs::is_regular_file(status))
    fail(what + " is not a regular file");
  auto buffer =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    fail(what + " cannot be read: " + buffer.getError().message());
  return std::move(*buffer);
}

// A relative path that does not leave the folder.
bool staysInside(const std::string &location) {
  if (llvm::sys::path::is_absolute(location))
    return false;
  for (auto part = llvm::sys::path::begin(location); part != llvm::sys::path::end(location); ++part)
    if (*part == "..")
      return false;
  return true;
}

template <typename T> T loadAt(std::string_view bytes, int64_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

double widen(const llvm::fltSemantics &semantics, uint16_t bits) {
  llvm::APFloat value(semantics, llvm::APInt(16, bits));
  bool exact;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &exact);
  return value.convertToDouble();
}

} // namespace

double elementAt(std::string_view bytes, ElementType type, int64_t index) {
  switch (type) {
  case ElementType::F64:
    return loadAt<double>(bytes, index);
  case ElementType::F32:
    return loadAt<float>(bytes, index);
  case ElementType::F16:
    return widen(llvm::APFloat::IEEEhalf(), loadAt<uint16_t>(bytes, index));
  case ElementType::BF16:
    return widen(llvm::APFloat::BFloat(), loadAt<uint16_t>(bytes, index));
  case ElementType::I64:
    return static_cast<double>(loadAt<int64_t>(bytes, index));
  case ElementType::I32:
    return loadAt<int32_t>(bytes, index);
  case ElementType::I16:
    return loadAt<int16_t>(bytes, index);
  case ElementType::I8:
    return loadAt<int8_t>(bytes, index);
  case ElementType::U64:
    return static_cast<double>(loadAt<uint64_t>(bytes, index));
  case ElementType::U32:
    return loadAt<uint32_t>(bytes, index);
  case ElementType::U16:
    return loadAt<uint16_t>(bytes, index);
  case ElementType::U8:
    return loadAt<uint8_t>(bytes, index);
  case ElementType::Bool:
    return loadAt<uint8_t>(bytes, index) != 0;
  }
  return 0;
}

WeightFiles::WeightFiles(const std::string &modelPath) : modelPath_(modelPath) {
  model_ = mapFile(modelPath, "the model file");
}

std::string_view WeightFiles::modelBytes() const {
  return {model_->getBufferStart(), model_->getBufferSize()};
}

std::string_view WeightFiles::externalBytes(const StoredTensor &tensor) {
  std::string of = "the weights file '" + tensor.location + "' of '" + tensor.name + "'";
  auto found = external_.find(tensor.location);
  if (found == external_.end()) {
    if (!staysInside(tensor.location))
      fail(of + " lies outside the model's folder; move it there and export again");
    llvm::SmallString<256> path(llvm::sys::path::parent_path(modelPath_));
    llvm::sys::path::append(path, tensor.location);
    found = external_.emplace(tensor.location, mapFile(path.str().str(), of)).first;
  }
  std::string_view all(found->second->getBufferStart(), found->second->getBufferSize());
  const ByteRange &range = tensor.range;
  if (range.offset > all.size() || range.size > all.size() - range.offset)
    fail(of + " has " + std::to_string(all.size()) + " bytes, but bytes " +
         std::to_string(range.offset) + " to " + std::to_string(range.offset + range.size) +
         " are wanted; copy the file again");
  return all;
}

std::string_view WeightFiles::bytesOf(const StoredTensor &tensor) {
  if (!tensor.inFile)
    return tensor.decoded;
  std::string_view all = tensor.location.empty() ? modelBytes() : externalBytes(tensor);
  return all.substr(tensor.range.offset, tensor.range.size);
}

Tensor WeightFiles::read(const StoredTensor &tensor) {
  std::string_view bytes = bytesOf(tensor);
  Tensor out(tensor.element(), tensor.dims);
  for (int64_t i = 0; i < out.size(); ++i)
    out.values[i] = elementAt(bytes, out.type, i);
  return out;
}

graph::TensorOrigin WeightFiles::originOf(const StoredTensor &tensor,
                                          std::vector<int64_t> permutation) {
  check(tensor);
  graph::TensorOrigin origin;
  if (!tensor.inFile) {
    origin.kind = graph::TensorOrigin::Kind::Inline;
    origin.data = read(tensor);
    return origin;
  }
  origin.kind = graph::TensorOrigin::Kind::File;
  origin.path = tensor.location;
  origin.offset = tensor.range.offset;
  origin.bytes = tensor.range.size;
  origin.element = tensor.element();
  origin.permutation = std::move(permutation);
  return origin;
}

} // namespace cleave::onnx
