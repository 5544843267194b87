// Movement: reshapes, repetitions and rearrangements of elements. Slices and concatenations are in
// Emitter.h and Slicing.h.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// The shape that a target such as [0, -1, 64] means for x: one -1 is inferred from the number of
// elements; with `zeroCopies` a 0 copies the dim of x at that place.
Sizes resolvedShape(const Emitter &e, Value x, const Sizes &target, bool zeroCopies = false);
// x with that shape.
Value reshapeTo(const Emitter &e, Value x, const Sizes &target, bool zeroCopies = false);

// Merges dims `first` to `last`, both included.
Value flatten(const Emitter &e, Value x, int64_t first, int64_t last);
// Merges the dims before `axis`, and those from it on: a matrix.
Value flattenToMatrix(const Emitter &e, Value x, int64_t axis);

// Removes the dims `axes` (sorted), which have size 1; all dims of size 1.
Value squeeze(const Emitter &e, Value x, const Ints &axes);
Value squeezeAll(const Emitter &e, Value x);
// Inserts dims of size 1; `axes` (sorted) are dims of the result.
Value unsqueeze(const Emitter &e, Value x, const Ints &axes);

// x broadcast to the common numpy shape of x and `shape`.
Value expand(const Emitter &e, Value x, const Sizes &shape);
// Repeats the whole tensor repeats[i] times along dim i.
Value tile(const Emitter &e, Value x, const Sizes &repeats);
// Repeats every element `times` times along one dim.
Value repeatInterleave(const Emitter &e, Value x, int64_t dim, const Polynomial &times);

// Exchange blocks of block × block pixels of [N, C, H, W] with channels, whose order is (block,
// block, depth) or, with `depthFirst`, (depth, block, block).
Value depthToSpace(const Emitter &e, Value x, int64_t block, bool depthFirst);
Value spaceToDepth(const Emitter &e, Value x, int64_t block);

// Joins the pieces along a new dim `axis`.
Value stack(const Emitter &e, const Values &pieces, int64_t axis);
// Moves the elements along `dim` by `shift` places, cyclically.
Value roll(const Emitter &e, Value x, int64_t dim, const Polynomial &shift);

} // namespace cleave::emit
