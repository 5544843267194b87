// Blocks of n-dimensional arrays, and copies between overlapping blocks.
#pragma once

#include "runtime/base/DType.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cleave::data {

// A block of an array: its offset in the array and its shape, in elements. In memory it is dense
// and row-major.
struct Block {
  std::vector<int64_t> offset;
  std::vector<int64_t> shape;
};

// The number of elements of a shape.
int64_t elements(const std::vector<int64_t> &shape);
// `[3, 224, 224]`
std::string toString(const std::vector<int64_t> &shape);
// The intersection of two blocks; a dim of size 0 if it is empty.
Block intersection(const Block &a, const Block &b);

// Sets the memory of a block to zero, unless `part` of it, which is written next, is all of it.
void clearUnlessAll(const Block &part, const Block &block, DType type, void *data);

// Copies the elements of `part`, which lies inside both blocks, from the memory of one block to
// that of the other, and converts their type. Fails like convert().
Status copyPart(const Block &part, const Block &from, DType fromType, const void *fromData,
                const Block &to, DType toType, void *toData);

} // namespace cleave::data
