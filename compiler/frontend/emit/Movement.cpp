// See Movement.h.
#include "compiler/frontend/emit/Movement.h"

#include "dialects/graph/Symbols.h"

namespace cleave::emit {

using namespace graph;

Sizes resolvedShape(const Emitter &e, Value x, const Sizes &target, bool zeroCopies) {
  Sizes from = shapeOf(x), dims = target;
  std::optional<size_t> open;
  Polynomial rest(1);
  auto failShape = [&]() {
    fail("cannot give ", showShape(from), " the shape ", showShape(target));
  };
  for (size_t i = 0; i < dims.size(); ++i) {
    if (zeroCopies && dims[i] == Polynomial()) {
      if (i >= from.size())
        fail("copies dim ", i, " of an operand ", showShape(from));
      dims[i] = from[i];
    }
    if (dims[i] == Polynomial(-1)) {
      if (open)
        failShape();
      open = i;
      continue;
    }
    if (dims[i].atMost(kLeastSymbol).value_or(0) < 0)
      failShape();
    rest *= dims[i];
  }
  if (!open)
    return dims;
  Polynomial all = product(from);
  std::optional<Polynomial> size = all.dividedBy(rest);
  if (!size && all.isConstant() && rest.isConstant())
    fail("cannot give ", showShape(from), " with ", all.str(), " elements the shape ",
         showShape(target));
  if (!size)
    fail("gives ", showShape(from), " the shape ", showShape(target), ": whether ", all.str(),
         " elements fit ", dependsOnSymbols((all + rest).symbols()));
  dims[*open] = *size;
  return dims;
}

Value reshapeTo(const Emitter &e, Value x, const Sizes &target, bool zeroCopies) {
  return e.reshape(x, resolvedShape(e, x, target, zeroCopies));
}

Value flatten(const Emitter &e, Value x, int64_t first, int64_t last) {
  Sizes from = shapeOf(x);
  if (from.empty())
    return e.reshape(x, {Polynomial(1)});
  Sizes dims(from.begin(), from.begin() + first);
  dims.push_back(product(from.dropFront(first).take_front(last + 1 - first)));
  dims.insert(dims.end(), from.begin() + last + 1, from.end());
  return e.reshape(x, dims);
}

Value flattenToMatrix(const Emitter &e, Value x, int64_t axis) {
  Sizes dims = shapeOf(x);
  Polynomial rows = product(dims.takeFront(axis));
  return e.reshape(x, {rows, product(dims.dropFront(axis))});
}

Value squeeze(const Emitter &e, Value x, const Ints &axes) {
  Sizes from = shapeOf(x), dims;
  for (size_t i = 0; i < from.size(); ++i) {
    if (!llvm::is_contained(axes, static_cast<int64_t>(i)))
      dims.push_back(from[i]);
    else if (from[i] != Polynomial(1))
      fail("drops dim ", i, " of size ", from[i].str(), ", expected size 1");
  }
  return e.reshape(x, dims);
}

Value squeezeAll(const Emitter &e, Value x) {
  Sizes dims = shapeOf(x);
  llvm::erase(dims, Polynomial(1));
  return e.reshape(x, dims);
}

Value unsqueeze(const Emitter &e, Value x, const Ints &axes) {
  Sizes dims = shapeOf(x);
  for (int64_t axis : axes) { // ascending: each is a dim of the final shape
    if (axis > static_cast<int64_t>(dims.size()))
      fail("axis ", axis, " is out of range");
    dims.insert(dims.begin() + axis, Polynomial(1));
  }
  return e.reshape(x, dims);
}

Value expand(const Emitter &e, Value x, const Sizes &shape) {
  e.type(shape, elementOf(x));
  return e.broadcast(x, broadcastShape(shapeOf(x), shape));
}

// [a, b] -> [1, a, 1, b] -> [r, a, s, b] -> [r a, s b].
Value tile(const Emitter &e, Value x, const Sizes &repeats) {
  Sizes from = shapeOf(x), split, spread, dims;
  if (repeats.size() != from.size())
    fail("has ", repeats.size(), " repeats for ", from.size(), " dims");
  for (size_t i = 0; i < from.size(); ++i) {
    split.insert(split.end(), {Polynomial(1), from[i]});
    spread.insert(spread.end(), {repeats[i], from[i]});
    dims.push_back(repeats[i] * from[i]);
  }
  e.type(spread, elementOf(x));
  if (dims == from)
    return x;
  if (product(dims) == Polynomial())
    return e.splat(dims, elementOf(x), 0);
  return e.reshape(e.broadcast(e.reshape(x, split), spread), dims);
}

Value repeatInterleave(const Emitter &e, Value x, int64_t dim, const Polynomial &times) {
  Sizes spread = shapeOf(x), dims = spread;
  spread.insert(spread.begin() + dim + 1, times);
  dims[dim] *= times;
  return e.reshape(e.broadcast(e.insertDim(x, dim + 1), spread), dims);
}

Value depthToSpace(const Emitter &e, Value x, int64_t block, bool depthFirst) {
  Sizes d = shapeOf(x);
  std::optional<Polynomial> channels =
      d.size() != 4 || block < 1 || block > 1024 ? std::nullopt : d[1].dividedBy(block * block);
  if (!channels)
    fail("has data ", showShape(d), " and blocks of ", block, ": the channels do not fit");
  Sizes split = depthFirst ? Sizes{d[0], *channels, block, block, d[2], d[3]}
                           : Sizes{d[0], block, block, *channels, d[2], d[3]};
  Ints order = depthFirst ? Ints{0, 1, 4, 2, 5, 3} : Ints{0, 3, 4, 1, 5, 2};
  return e.reshape(e.transpose(e.reshape(x, split), order),
                   {d[0], *channels, d[2] * block, d[3] * block});
}

Value spaceToDepth(const Emitter &e, Value x, int64_t block) {
  Sizes d = shapeOf(x);
  bool fits = d.size() == 4 && block >= 1 && block <= 1024;
  std::optional<Polynomial> rows = fits ? d[2].dividedBy(block) : std::nullopt,
                            columns = fits ? d[3].dividedBy(block) : std::nullopt;
  if (!rows || !columns) {
    auto symbols = fits ? (d[2] * d[3]).symbols() : std::vector<std::string>();
    fail("has data ", showShape(d), " and blocks of ", block, ": ",
         (symbols.empty() ? "the sides do not fit"
                          : "whether the sides fit " + dependsOnSymbols(symbols)));
  }
  Value split = e.reshape(x, {d[0], d[1], *rows, block, *columns, block});
  return e.reshape(e.transpose(split, Ints{0, 3, 5, 1, 2, 4}),
                   {d[0], d[1] * (block * block), *rows, *columns});
}

Value stack(const Emitter &e, const Values &pieces, int64_t axis) {
  Values rows;
  for (Value piece : pieces)
    rows.push_back(e.insertDim(piece, axis));
  return e.concat(rows, axis);
}

Value roll(const Emitter &e, Value x, int64_t dim, const Polynomial &shift) {
  Polynomial size = shapeOf(x)[dim], by = shift;
  if (std::optional<int64_t> number = size.constant(), places = shift.constant();
      number && places) {
    if (*number == 0)
      return x;
    by = ((*places % *number) + *number) % *number;
  } else if (by.atMost(kLeastSymbol).value_or(0) < 0) {
    by += size;
  }
  if (by == Polynomial())
    return x;
  return e.concat({e.slice(x, dim, size - by, by), e.slice(x, dim, 0, size - by)}, dim);
}

} // namespace cleave::emit
