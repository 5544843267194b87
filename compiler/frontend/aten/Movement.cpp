// Movement of elements into new tensors: joining, repeating, reversing, padding, shuffling,
// triangles.
#include "compiler/frontend/aten/OpCall.h"

#include "compiler/frontend/emit/Indexing.h"
#include "compiler/frontend/emit/Movement.h"
#include "compiler/frontend/emit/Sampling.h"
#include "compiler/frontend/emit/Slicing.h"

namespace cleave::aten {
namespace {

using emit::Reduction;

// All tensors of the list in their common type.
emit::Values promotedTensors(OpCall &c, std::string_view name) {
  const IValueList &items = c[name].items();
  if (items.empty())
    fail("joins no tensors, expected at least 1");
  ElementType type = promotedType(c, items);
  emit::Values out;
  for (const IValue &item : items)
    out.push_back(c.cast(c.read(item), type));
  return out;
}

// PyTorch accepts an empty 1-dim tensor among tensors of other ranks.
bool isEmptyVector(Array x) { return shapeOf(x) == Sizes{0}; }

Results cat(OpCall &c) {
  emit::Values all = promotedTensors(c, "tensors"), parts;
  for (Array x : all)
    if (!isEmptyVector(x))
      parts.push_back(x);
  if (parts.size() < 2)
    return parts.empty() ? all[0] : parts[0];
  return c.e.concat(parts, c.dim("dim", rankOf(parts[0])));
}

Results stack(OpCall &c) {
  emit::Values all = promotedTensors(c, "tensors");
  return emit::stack(c.e, all, c.dim("dim", rankOf(all[0]) + 1));
}

// Joins along `dim` after adding dims up to a minimum rank.
Results stackAlong(OpCall &c, int64_t dim, int64_t rank) {
  emit::Values all = promotedTensors(c, "tensors");
  for (Array &x : all)
    while (rankOf(x) < rank)
      x = c.e.insertDim(x, 0);
  return all.size() == 1 ? all[0] : c.e.concat(all, rankOf(all[0]) == 1 ? 0 : dim);
}
Results vstack(OpCall &c) { return stackAlong(c, 0, 2); }
Results hstack(OpCall &c) { return stackAlong(c, 1, 1); }

Results dstack(OpCall &c) {
  emit::Values all = promotedTensors(c, "tensors");
  for (Array &x : all) {
    while (rankOf(x) < 2)
      x = c.e.insertDim(x, 0);
    if (rankOf(x) == 2)
      x = c.e.insertDim(x, 2);
  }
  return c.e.concat(all, 2);
}

Results broadcastAll(OpCall &c) {
  const emit::Values given = c.tensors("tensors");
  emit::Values all = given;
  c.e.broadcastTogether(all);
  IValueList out;
  for (auto [i, x] : llvm::enumerate(all)) // one that has the shape already is returned itself
    out.push_back(x == given[i] ? c["tensors"].items()[i] : IValue(TensorState::create(x)));
  return IValue::list(std::move(out));
}

// The n-th difference of neighbouring elements.
Results difference(OpCall &c) {
  Array x = c.tensor("self");
  int64_t dim = c.dim("dim", rankOf(x)), times = c.plainInteger("n");
  if (times < 0 || times > 256)
    fail("takes differences ", times, " times, expected 0 to 256");
  emit::Values parts;
  if (c.has("prepend"))
    parts.push_back(c.tensor("prepend"));
  parts.push_back(x);
  if (c.has("append"))
    parts.push_back(c.tensor("append"));
  if (parts.size() > 1)
    x = c.e.concat(parts, dim);
  for (int64_t i = 0; i < times; ++i) {
    Polynomial rest = shapeOf(x)[dim] - Polynomial(1);
    Array later = c.e.slice(x, dim, 1, rest), earlier = c.e.slice(x, dim, 0, rest);
    bool isBool = typeOf(x) == ElementType::Bool;
    x = isBool ? c.e.binary<graph::XorOp>(later, earlier) : c.e.sub(later, earlier);
  }
  return x;
}

Results flip(OpCall &c) {
  Array x = c.tensor("self");
  for (int64_t dim : c.e.axes(c.plainIntegers("dims"), rankOf(x)))
    x = c.e.reverse(x, dim);
  return x;
}

template <int64_t dim> Results flipAlong(OpCall &c) {
  Array x = c.tensor("self");
  c.e.checkRank(x, dim + 1);
  return c.e.reverse(x, dim);
}

// Rotates by quarter turns from the first dim towards the second.
Results rotate(OpCall &c) {
  Array x = c.tensor("self");
  Ints dims;
  for (int64_t dim : c.plainIntegers("dims"))
    dims.push_back(c.e.axis(dim, rankOf(x), "dim"));
  if (dims.empty()) // the default [0, 1]
    dims = {0, 1};
  if (rankOf(x) < 2 || dims.size() != 2 || dims[0] == dims[1])
    fail("turns in the dims ", emit::showInts(dims), ", expected two");
  int64_t quarters = ((c.plainInteger("k") % 4) + 4) % 4;
  if (quarters == 1 || quarters == 2)
    x = c.e.reverse(x, dims[1]);
  if (quarters == 3 || quarters == 2)
    x = c.e.reverse(x, dims[0]);
  return quarters % 2 ? c.e.swapDims(x, dims[0], dims[1]) : x;
}

Results roll(OpCall &c) {
  Array x = c.tensor("self");
  Sizes shape = shapeOf(x), shifts = c.integers("shifts");
  Ints dims = c.plainIntegers("dims");
  if (dims.empty() && shifts.size() == 1) {
    Array flat = c.e.reshape(x, {emit::product(shape)});
    return c.e.reshape(emit::roll(c.e, flat, 0, shifts[0]), shape);
  }
  if (dims.size() != shifts.size() || dims.size() > emit::kMaxRank)
    fail("has ", shifts.size(), " shifts for ", dims.size(), " dims");
  for (size_t i = 0; i < dims.size(); ++i)
    x = emit::roll(c.e, x, c.e.axis(dims[i], rankOf(x), "dim"), shifts[i]);
  return x;
}

// Repeats the tensor along each dim; missing dims of either list are 1.
Array repeated(OpCall &c, Array x, Sizes times) {
  while (static_cast<int64_t>(times.size()) < rankOf(x))
    times.insert(times.begin(), 1);
  while (rankOf(x) < static_cast<int64_t>(times.size()))
    x = c.e.insertDim(x, 0);
  return emit::tile(c.e, x, times);
}

Results repeat(OpCall &c) {
  Array x = c.tensor("self");
  Sizes times = c.integers("repeats");
  if (static_cast<int64_t>(times.size()) < rankOf(x))
    fail("repeats ", times.size(), " dims of ", rankOf(x));
  return repeated(c, x, times);
}
Results tile(OpCall &c) { return repeated(c, c.tensor("self"), c.integers("dims")); }

// Repeats each element of a dim the same number of times.
Results repeatInterleave(OpCall &c) {
  Array x = c.tensor("self");
  Polynomial times = c.integer("repeats");
  if (!c.has("dim"))
    x = c.e.reshape(x, {emit::product(shapeOf(x))});
  return emit::repeatInterleave(c.e, x, c.has("dim") ? c.dim("dim", rankOf(x)) : 0, times);
}

// Repeats each element of a dim by a list of numbers.
Results repeatEach(OpCall &c) {
  Array x = c.tensor("self");
  if (!c.has("dim"))
    x = c.e.reshape(x, {emit::product(shapeOf(x))});
  int64_t dim = c.has("dim") ? c.dim("dim", rankOf(x)) : 0;
  Ints times = c.e.integersOf(c.tensor("repeats"), "how often elements are repeated");
  int64_t count = c.e.number(shapeOf(x)[dim], "the size of the dim");
  constexpr int64_t most = 1 << 20;
  if (times.size() == 1)
    times = Ints(std::min(count, most), times[0]);
  Tensor places(ElementType::I64, {0});
  for (int64_t i = 0; i < count && static_cast<int64_t>(times.size()) == count; ++i)
    for (int64_t k = 0; k < times[i] && static_cast<int64_t>(places.values.size()) < most; ++k)
      places.values.push_back(static_cast<double>(i));
  places.shape = {static_cast<int64_t>(places.values.size())};
  if (static_cast<int64_t>(times.size()) != count || places.values.empty() ||
      places.shape[0] == most)
    fail("repeats ", count, " elements by ", times.size(), " numbers, to ", places.values.size(),
         " elements");
  return emit::gather(c.e, x, c.e.constant(places), dim);
}

// -- padding --------------------------------------------------------------------------------------
// `pads` come in pairs from the last dim on.
Array padded(OpCall &c, Array x, const Sizes &pads, emit::PadMode mode, double value) {
  auto rank = static_cast<size_t>(rankOf(x));
  if (pads.size() % 2 || pads.size() / 2 > rank)
    fail("has ", pads.size(), " pads for ", rank, " dims");
  for (size_t i = 0; i < pads.size() / 2; ++i)
    x = emit::padDim(c.e, x, static_cast<int64_t>(rank - 1 - i), pads[2 * i], pads[2 * i + 1], mode,
                     value);
  return x;
}

Results pad(OpCall &c) {
  static const std::map<std::string, emit::PadMode> modes = {{"constant", emit::PadMode::Constant},
                                                             {"replicate", emit::PadMode::Edge},
                                                             {"reflect", emit::PadMode::Reflect},
                                                             {"circular", emit::PadMode::Wrap}};
  auto mode = modes.find(c.string("mode"));
  if (mode == modes.end())
    fail("pads by '", c.string("mode"), "', expected constant, replicate, reflect or circular");
  double value = c.has("value") ? c.number("value") : 0;
  return padded(c, c.tensor("self"), c.integers("pad"), mode->second, value);
}

Results constantPad(OpCall &c) {
  return padded(c, c.tensor("self"), c.integers("pad"), emit::PadMode::Constant, c.number("value"));
}

template <emit::PadMode mode> Results padBy(OpCall &c) {
  return padded(c, c.tensor("self"), c.integers("padding"), mode, 0);
}

// -- shuffles -------------------------------------------------------------------------------------
// (…, channels r^2, height, width) -> (…, channels, height r, width r), and back.
Results pixelShuffle(OpCall &c) {
  Array x = c.tensor("self");
  c.e.checkRank(x, 3);
  Sizes shape = shapeOf(x), front(shape.begin(), shape.end() - 3);
  Sizes images{emit::product(front)};
  images.insert(images.end(), shape.end() - 3, shape.end());
  Array out = emit::depthToSpace(c.e, c.e.reshape(x, images), c.plainInteger("upscale_factor"),
                                 /*depthFirst=*/true);
  Sizes after = shapeOf(out);
  front.insert(front.end(), after.begin() + 1, after.end());
  return c.e.reshape(out, front);
}

Results pixelUnshuffle(OpCall &c) {
  Array x = c.tensor("self");
  c.e.checkRank(x, 3);
  int64_t r = c.plainInteger("downscale_factor"), rank = rankOf(x);
  Sizes shape = shapeOf(x), front(shape.begin(), shape.end() - 3), split = front, out = front;
  auto part = [&](int64_t dim) {
    std::optional<Polynomial> size = r > 0 ? shape[dim].dividedBy(r) : std::nullopt;
    if (!size)
      fail("shuffles ", emit::showShape(shape), " by ", r);
    return *size;
  };
  Polynomial height = part(rank - 2), width = part(rank - 1);
  split.insert(split.end(), {shape[rank - 3], height, r, width, r});
  out.insert(out.end(), {shape[rank - 3] * Polynomial(r) * Polynomial(r), height, width});
  Ints order = emit::dimsFrom(0, rank - 3);
  for (int64_t at : {0, 2, 4, 1, 3})
    order.push_back(rank - 3 + at);
  return c.e.reshape(c.e.transpose(c.e.reshape(x, split), order), out);
}

Results channelShuffle(OpCall &c) {
  Array x = c.tensor("self");
  c.e.checkRank(x, 3);
  Sizes shape = shapeOf(x), split = shape;
  int64_t groups = c.plainInteger("groups");
  std::optional<Polynomial> inner = groups > 0 ? shape[1].dividedBy(groups) : std::nullopt;
  if (!inner)
    fail("shuffles ", emit::showShape(shape), " in ", groups, " groups");
  split[1] = groups;
  split.insert(split.begin() + 2, *inner);
  return c.e.reshape(c.e.swapDims(c.e.reshape(x, split), 1, 2), shape);
}

// -- triangles ------------------------------------------------------------------------------------
template <bool upper> Results triangle(OpCall &c) {
  return emit::triangle(c.e, c.tensor("self"), upper, c.integer("diagonal"));
}

// -- windows --------------------------------------------------------------------------------------
emit::Blocks blocksOf(OpCall &c, const Ints &image) {
  auto two = [&](const char *name) {
    Ints values = c.plainIntegers(name);
    if (values.size() == 1)
      values.push_back(values[0]);
    if (values.size() != 2)
      fail("has ", values.size(), " entries as '", name, "', expected 2");
    return values;
  };
  return {image,           two("kernel_size"), two("stride"),
          two("dilation"), two("padding"),     two("padding")};
}

// Adds a missing batch dim and removes it from the result.
template <typename Compute> Results overBatch(OpCall &c, int64_t rank, Compute compute) {
  Array x = c.tensor("self");
  if (rankOf(x) == rank)
    return compute(x);
  if (rankOf(x) != rank - 1)
    fail("has data ", emit::showShape(shapeOf(x)), ", expected ", rank, " dims");
  return c.e.dropDim(compute(c.e.insertDim(x, 0)), 0);
}

Results imageToColumns(OpCall &c) {
  return overBatch(c, 4, [&](Array x) {
    Sizes shape = shapeOf(x);
    Ints image = c.e.numbers({shape[2], shape[3]}, "the size of the image");
    return emit::imageToColumns(c.e, x, blocksOf(c, image));
  });
}

Results columnsToImage(OpCall &c) {
  return overBatch(c, 3, [&](Array x) {
    return emit::columnsToImage(c.e, x, blocksOf(c, c.plainIntegers("output_size")));
  });
}

#define CLEAVE_BLOCKS "i[] kernel_size, i[] dilation, i[] padding, i[] stride"
constexpr const char *kTensors = "T[] tensors, i dim=0";

constexpr OpEntry kMovementOps[] = {
    {"broadcast_tensors", "T[] tensors", broadcastAll},
    {"cat", kTensors, cat},
    {"channel_shuffle", "T self, i groups", channelShuffle},
    {"col2im", "T self, i[] output_size, " CLEAVE_BLOCKS, columnsToImage},
    {"concat", kTensors, cat},
    {"concatenate", kTensors, cat},
    {"constant_pad_nd", "T self, i[] pad, s value=0", constantPad},
    {"diff", "T self, i n=1, i dim=-1, T? prepend=None, T? append=None", difference},
    {"dstack", "T[] tensors", dstack},
    {"flip", "V self, i[] dims", flip},
    {"fliplr", "T self", flipAlong<1>},
    {"flipud", "T self", flipAlong<0>},
    {"hstack", "T[] tensors", hstack},
    {"im2col", "T self, " CLEAVE_BLOCKS, imageToColumns},
    {"pad", "T self, i[] pad, str mode='constant', f? value=None", pad},
    {"pixel_shuffle", "T self, i upscale_factor", pixelShuffle},
    {"pixel_unshuffle", "T self, i downscale_factor", pixelUnshuffle},
    {"reflection_pad1d", "T self, i[] padding", padBy<emit::PadMode::Reflect>},
    {"reflection_pad2d", "T self, i[] padding", padBy<emit::PadMode::Reflect>},
    {"reflection_pad3d", "T self, i[] padding", padBy<emit::PadMode::Reflect>},
    {"repeat", "T self, i[] repeats", repeat},
    {"repeat_interleave", "T self, i repeats, i? dim=None, *, i? output_size=None",
     repeatInterleave},
    {"repeat_interleave", "T self, T repeats, i? dim=None, *, i? output_size=None", repeatEach},
    {"replication_pad1d", "T self, i[] padding", padBy<emit::PadMode::Edge>},
    {"replication_pad2d", "T self, i[] padding", padBy<emit::PadMode::Edge>},
    {"replication_pad3d", "T self, i[] padding", padBy<emit::PadMode::Edge>},
    {"roll", "V self, i[] shifts, i[] dims=[]", roll},
    {"rot90", "T self, i k=1, i[] dims=[]", rotate},
    {"stack", kTensors, stack},
    {"tile", "T self, i[] dims", tile},
    {"tril", "T self, i diagonal=0", triangle<false>},
    {"triu", "T self, i diagonal=0", triangle<true>},
    {"vstack", "T[] tensors", vstack},
};

} // namespace

llvm::ArrayRef<OpEntry> movementOps() { return kMovementOps; }

} // namespace cleave::aten
