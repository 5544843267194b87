// Coordinates: gathers and scatters of single elements by integer tensors of indices. Negative
// indices count from the end. Gathers of whole rows are in Indexing.h.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// How a scatter combines an update with the element at its place. Replace: the last update wins.
enum class Combine { Replace, Add, Mul, Max, Min };

// result[…, i, …] = x[…, indices[…, i, …], …] along `axis`. The other dims of `indices` may be
// smaller than those of x. `neverNegative`: the model guarantees that no index is negative.
Value gatherElements(const Emitter &e, Value x, Value indices, int64_t axis,
                     bool neverNegative = false);

// x with updates[…, i, …] written at […, indices[…, i, …], …] along `axis`. `updates` has the shape
// of `indices`.
Value scatterElements(const Emitter &e, Value x, Value indices, Value updates, int64_t axis,
                      Combine how);

// result[a…, i…, c…] = x[a…, coordinates[0][i…], coordinates[1][i…], …, c…]: one integer tensor per
// dim of x from dim `first` on, all of one shape. The `batch` dims before `first` are also the
// first dims of the coordinates.
Value gatherAt(const Emitter &e, Value x, Values coordinates, int64_t first, int64_t batch = 0);

// x with updates[a…, i…, c…] written at those places.
Value scatterAt(const Emitter &e, Value x, Values coordinates, Value updates, int64_t first,
                Combine how);

// Splits the last dim of `indices` into one tensor per coordinate.
Values coordinatesOf(const Emitter &e, Value indices);

// Reverses the first lengths[b] elements along `time` of the sequence with index b along `batch`;
// the rest stays.
Value reverseSequence(const Emitter &e, Value x, Value lengths, int64_t time, int64_t batch);

} // namespace cleave::emit
