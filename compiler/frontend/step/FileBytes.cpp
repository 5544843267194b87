// See FileBytes.h.
#include "compiler/frontend/step/FileBytes.h"

#include "compiler/frontend/emit/Failure.h"
#include "runtime/base/ExternalFile.h"

#include "llvm/ADT/APFloat.h"

#include <cstring>

namespace cleave::frontend {
namespace {

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

using emit::fail;

std::shared_ptr<const MappedFile> mapFile(const std::string &path, const std::string &what) {
  Result<std::shared_ptr<const MappedFile>> file = MappedFile::open(path);
  if (!file)
    fail(what, ": ", file.status().message());
  return std::move(*file);
}

std::shared_ptr<const MappedFile> mapExternalFile(const std::string &modelPath,
                                                  const std::string &location,
                                                  const std::string &what) {
  Result<std::string> path = findExternalFile(modelPath, location);
  if (!path)
    fail(what, " ", path.status().message());
  return mapFile(*path, what);
}

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

} // namespace cleave::frontend
