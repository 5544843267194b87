// See Block.h.
#include "runtime/data/Block.h"

#include "runtime/data/ArrayFile.h"

#include <algorithm>
#include <cstring>

namespace cleave::data {

int64_t elements(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

std::string toString(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += concat(i ? ", " : "", shape[i]);
  return text + "]";
}

Block intersection(const Block &a, const Block &b) {
  Block result = a;
  for (size_t dim = 0; dim < a.shape.size(); ++dim) {
    int64_t begin = std::max(a.offset[dim], b.offset[dim]);
    int64_t end = std::min(a.offset[dim] + a.shape[dim], b.offset[dim] + b.shape[dim]);
    result.offset[dim] = begin;
    result.shape[dim] = std::max<int64_t>(0, end - begin);
  }
  return result;
}

// The index of an element of the array in a block's memory.
static int64_t positionIn(const Block &block, const std::vector<int64_t> &element) {
  int64_t position = 0;
  for (size_t dim = 0; dim < element.size(); ++dim)
    position = position * block.shape[dim] + element[dim] - block.offset[dim];
  return position;
}

void clearUnlessAll(const Block &part, const Block &block, DType type, void *data) {
  if (part.shape != block.shape)
    std::memset(data, 0, size_t(elements(block.shape) * byteSize(type)));
}

Status copyPart(const Block &part, const Block &from, DType fromType, const void *fromData,
                const Block &to, DType toType, void *toData) {
  if (elements(part.shape) == 0)
    return Status::ok();
  // The dims from `inner` on are contiguous in both memories.
  size_t inner = part.shape.size();
  int64_t run = 1;
  while (inner > 0) {
    run *= part.shape[--inner];
    if (part.shape[inner] != from.shape[inner] || part.shape[inner] != to.shape[inner])
      break;
  }
  std::vector<int64_t> element = part.offset;
  while (true) {
    const auto *source =
        static_cast<const char *>(fromData) + positionIn(from, element) * byteSize(fromType);
    auto *target = static_cast<char *>(toData) + positionIn(to, element) * byteSize(toType);
    CLEAVE_TRY(convert(source, fromType, target, toType, run));
    size_t dim = inner;
    while (dim > 0 && ++element[dim - 1] == part.offset[dim - 1] + part.shape[dim - 1]) {
      element[dim - 1] = part.offset[dim - 1];
      --dim;
    }
    if (dim == 0)
      return Status::ok();
  }
}

} // namespace cleave::data
