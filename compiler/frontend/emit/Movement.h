// Movement: the same elements under another shape or order, repeated or rearranged. Cutting and
// joining one dim is in Emitter.h and Slicing.h.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

namespace cleave::emit {

// The shape that a target like [0, -1, 64] means for x: one -1 is what remains, and where
// `zeroCopies` a 0 is the dim of x at that place.
Shape resolvedShape(const Emitter &e, Value x, const Shape &target, bool zeroCopies = false);
// x under that shape.
Value reshapeTo(const Emitter &e, Value x, const Shape &target, bool zeroCopies = false);

// Dims `first` to `last` (both included) become one.
Value flatten(const Emitter &e, Value x, int64_t first, int64_t last);
// A matrix: the dims before `axis`, and those from it on.
Value flattenToMatrix(const Emitter &e, Value x, int64_t axis);

// Without the dims `axes` (sorted), of size 1; without all dims of size 1.
Value squeeze(const Emitter &e, Value x, const Ints &axes);
Value squeezeAll(const Emitter &e, Value x);
// With dims of size 1 at the places `axes` (sorted) of the result.
Value unsqueeze(const Emitter &e, Value x, const Ints &axes);

// x broadcast together with a shape, by numpy's rule in both directions.
Value expand(const Emitter &e, Value x, const Shape &shape);
// The whole repeated so often along each dim.
Value tile(const Emitter &e, Value x, const Shape &repeats);
// Every element repeated so often along one dim.
Value repeatInterleave(const Emitter &e, Value x, int64_t dim, const Polynomial &times);

// N C H W: blocks of pixels and groups of channels change places. The channels are (block, block,
// depth) or, depth first, (depth, block, block).
Value depthToSpace(const Emitter &e, Value x, int64_t block, bool depthFirst);
Value spaceToDepth(const Emitter &e, Value x, int64_t block);

// All pieces along a new dim `axis`.
Value stack(const Emitter &e, const Values &pieces, int64_t axis);
// The elements of dim `dim` moved by `shift` places; what leaves comes in at the other end.
Value roll(const Emitter &e, Value x, int64_t dim, const Polynomial &shift);

} // namespace cleave::emit
