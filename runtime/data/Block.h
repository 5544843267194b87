// Blocks of n-dimensional arrays: copying what two of them have in common.
#pragma once

#include "runtime/base/DType.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cleave::data {

// A dense row-major piece of an array: where it begins in the array, and its size.
struct Block {
  std::vector<int64_t> offset;
  std::vector<int64_t> shape;
};

int64_t elements(const std::vector<int64_t> &shape);
// `[3, 224, 224]`
std::string toString(const std::vector<int64_t> &shape);
// What lies in both; a size of 0 in some dim if nothing does.
Block intersection(const Block &a, const Block &b);

// Copies the elements of `part` (inside both) from the memory of one block to that of the other,
// converting the type.
Status copyPart(const Block &part, const Block &from, DType fromType, const void *fromData,
                const Block &to, DType toType, void *toData);

} // namespace cleave::data
