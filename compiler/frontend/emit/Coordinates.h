// Coordinates: elements chosen along several dims by numbers in other tensors, and written to such places.
// Indices are integers; negative ones count from the end, as in all frameworks. Whole rows are in Indexing.h.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// How elements that are written meet what was there: Replace takes the last one written.
enum class Combine { Replace, Add, Mul, Max, Min };

// result[…, i, …] = x[…, indices[…, i, …], …] along `axis`; the indices' other dims may be smaller than x's.
// `neverNegative` where the model promises that there are no negative ones.
Value gatherElements(const Emitter &e, Value x, Value indices, int64_t axis,
                     bool neverNegative = false);

// x with updates[…, i, …] written at […, indices[…, i, …], …] along `axis`. Updates have the indices' shape.
Value scatterElements(const Emitter &e, Value x, Value indices, Value updates, int64_t axis,
                      Combine how);

// One integer tensor per dim of x from dim `first` on, all of one shape: result[a…, i…, c…] =
// x[a…, coordinates[0][i…], coordinates[1][i…], …, c…]. `batch`: so many dims in front of `first` are the
// coordinates' own first dims, too.
Value gatherAt(const Emitter &e, Value x, Values coordinates, int64_t first, int64_t batch = 0);

// x with updates[a…, i…, c…] written at those places.
Value scatterAt(const Emitter &e, Value x, Values coordinates, Value updates, int64_t first,
                Combine how);

// The coordinates in the last dim of `indices`, one tensor for each.
Values coordinatesOf(const Emitter &e, Value indices);

// Lines of a batch turned round in part: along `time` the first lengths[b] elements of line b (its index along
// `batch`) from back to front, the rest as they are.
Value reverseSequence(const Emitter &e, Value x, Value lengths, int64_t time, int64_t batch);

} // namespace cleave::emit
