// See StridedTensor.h.
#include "compiler/frontend/torch/StridedTensor.h"

#include "compiler/frontend/emit/Failure.h"
#include "compiler/frontend/step/FileBytes.h"
#include "compiler/frontend/torch/Quantized.h"

#include <algorithm>
#include <map>

namespace cleave::torch {

using emit::fail;

namespace {

constexpr int64_t kMaxElements = int64_t(1) << 56;
constexpr size_t kMaxRank = 32;
constexpr int64_t kMaxInlineBytes = int64_t(16) << 20;

// The offset of the last element of a tensor that is not empty.
int64_t lastOffset(const StridedTensor &tensor) {
  int64_t last = tensor.offset;
  for (size_t i = 0; i < tensor.dims.size(); ++i)
    last += (tensor.dims[i] - 1) * tensor.strides[i];
  return last;
}

} // namespace

const Entry &entryOf(const Archive &archive, const StridedTensor &tensor, const std::string &name) {
  const Entry *entry = archive.find(tensor.entry);
  if (!entry)
    fail("the storage '", tensor.entry, "' of '", name,
         "' is not in the archive; save the model again");
  int64_t wanted = tensor.storageElements;
  int64_t size = byteSize(elementOf(tensor, name));
  if (wanted >= 0 && (wanted > kMaxElements || entry->bytes != uint64_t(wanted * size)))
    fail("the storage '", tensor.entry, "' of '", name, "' has ", entry->bytes, " bytes, expected ",
         wanted, " elements of ", size, "; save the model again");
  // The last element must be within the entry, whatever size the file states for the storage.
  if (tensor.elementCount() > 0 && uint64_t(lastOffset(tensor) + 1) * uint64_t(size) > entry->bytes)
    fail("'", name, "' ends beyond its storage '", tensor.entry, "' of ", entry->bytes,
         " bytes; save the model again");
  return *entry;
}

int64_t StridedTensor::elementCount() const {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  return count;
}

bool StridedTensor::mayOverlap(const StridedTensor &other) const {
  return entry == other.entry && elementCount() > 0 && other.elementCount() > 0 &&
         offset <= lastOffset(other) && other.offset <= lastOffset(*this);
}

bool StridedTensor::isSameAs(const StridedTensor &other) const {
  return entry == other.entry && element == other.element && offset == other.offset &&
         dims == other.dims && strides == other.strides;
}

std::optional<StridedTensor> pairsOf(const StridedTensor &tensor) {
  static const std::map<std::string, ElementType> parts = {{"complex32", ElementType::F16},
                                                           {"complex64", ElementType::F32},
                                                           {"complex128", ElementType::F64}};
  auto part = parts.find(tensor.elementName);
  if (part == parts.end())
    return std::nullopt;
  StridedTensor out = tensor;
  out.element = part->second;
  if (out.storageElements >= 0 && out.storageElements <= kMaxElements) // entryOf() refuses more
    out.storageElements *= 2;
  out.offset *= 2;
  for (size_t i = 0; i < out.dims.size(); ++i)
    if (out.dims[i] > 1) // other strides may be any number
      out.strides[i] *= 2;
  out.dims.push_back(2);
  out.strides.push_back(1);
  return out;
}

void checkTensor(const StridedTensor &tensor, const std::string &name) {
  if (tensor.dims.size() != tensor.strides.size() || tensor.dims.size() > kMaxRank)
    fail("'", name, "' has ", tensor.dims.size(), " dims and ", tensor.strides.size(),
         " strides, expected as many, at most ", kMaxRank);
  // Dims of size 0 count as 1: strides are products of the others.
  int64_t count = 1, last = tensor.offset;
  bool sound = tensor.offset >= 0 && tensor.offset < kMaxElements;
  for (size_t i = 0; i < tensor.dims.size() && sound; ++i) {
    int64_t dim = tensor.dims[i], stride = tensor.strides[i], reach = 0;
    sound = dim >= 0 && stride >= 0 &&
            !__builtin_mul_overflow(count, std::max<int64_t>(dim, 1), &count) &&
            !__builtin_mul_overflow(std::max<int64_t>(dim - 1, 0), stride, &reach) &&
            !__builtin_add_overflow(last, reach, &last) && count < kMaxElements &&
            last < kMaxElements;
  }
  if (!sound)
    fail("'", name, "' has dims or strides that no tensor can have; save the model again");
  if (tensor.storageElements >= 0 && tensor.elementCount() > 0 && last >= tensor.storageElements)
    fail("'", name, "' reaches element ", last, " of a storage with ", tensor.storageElements,
         "; save the model again");
}

void failOnElements(const std::string &name, const std::string &elementName) {
  fail("'", name, "' has elements of ", elementName, ", which Cleave does not support",
       llvm::StringRef(elementName).starts_with("complex")
           ? " in what is trained or written; keep its two parts in a real tensor and call "
             "torch.view_as_complex on it"
           : "");
}

ElementType elementOf(const StridedTensor &tensor, const std::string &name) {
  if (isQuantizedElement(tensor.elementName))
    failOnQuantized("'" + name + "' is a tensor of " + tensor.elementName);
  if (!tensor.element)
    failOnElements(name, tensor.elementName);
  return *tensor.element;
}

Tensor readTensor(const Archive &archive, const StridedTensor &tensor, const std::string &name) {
  const Entry &entry = entryOf(archive, tensor, name);
  int64_t bytes = tensor.elementCount() * byteSize(*tensor.element);
  if (bytes > kMaxInlineBytes)
    fail("'", name, "' has ", bytes,
         " bytes with gaps between its elements; call .contiguous() on it before saving the model");
  archive.spend(static_cast<uint64_t>(tensor.elementCount()) * sizeof(double));
  std::string copy;
  std::string_view stored;
  if (entry.isCompressed)
    stored = copy = archive.contents(entry.name);
  else
    stored = archive.mapped(entry);
  Tensor out(*tensor.element, tensor.dims);
  size_t next = 0;
  forEachIndex(tensor.dims, [&](const std::vector<int64_t> &index) {
    int64_t at = tensor.offset + linearIndex(index, tensor.strides);
    out.values[next++] = frontend::elementAt(stored, out.type, at);
  });
  return out;
}

} // namespace cleave::torch
