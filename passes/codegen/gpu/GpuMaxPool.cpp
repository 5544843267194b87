// See GpuMaxPool.h.
#include "passes/codegen/gpu/GpuMaxPool.h"

#include "compiler/analysis/ChannelsLast.h"
#include "dialects/graph/Window.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace cleave::codegen {

namespace {

constexpr int64_t kLaneBytes = 8;   // of the neighbouring channels of a thread
constexpr int64_t kStripBlocks = 8; // blocks of pixels that a thread writes in the gradient

class MaxPoolEmitter {
public:
  template <typename Op>
  MaxPoolEmitter(GpuKernel &k, Op op, Value windows)
      : k_(k), b_(k.builder()), element_(graph::elementTypeOf(op.getInput())),
        wide_(k.wideType(element_)), kernel_(op.getKernel()), strides_(op.getStrides()),
        pads_(op.getPadsLow()) {
    const std::vector<int64_t> in = graph::staticShapeOf(op.getInput()),
                               out = graph::staticShapeOf(windows);
    samples_ = in[0], channels_ = in[1];
    in_.assign(in.begin() + 2, in.end());
    out_.assign(out.begin() + 2, out.end());
    width_ = std::max<int64_t>(1, kLaneBytes * 8 / element_.getIntOrFloatBitWidth());
    while (channels_ % width_ != 0)
      width_ /= 2;
    for (size_t d = 0; d < kernel_.size(); ++d) {
      overlaps_.push_back(llvm::divideCeil(kernel_[d], strides_[d]));
      firstBlock_.push_back(pads_[d] / strides_[d]);
      blocks_.push_back((in_[d] - 1 + pads_[d]) / strides_[d] - firstBlock_[d] + 1);
    }
  }

  void emitForward(int64_t input, int64_t result) {
    SmallVector<int64_t> sizes = {samples_};
    llvm::append_range(sizes, out_);
    sizes.push_back(channels_ / width_);
    k_.points(llvm::product_of(sizes), [&](Value point) {
      SmallVector<Value> at = k_.delinearize(point, sizes);
      const Place place = {at.front(), k_.mul(at.back(), width_)};
      const auto window = ArrayRef(at).drop_front().drop_back();
      store(maximum(place, window, input).values, result, indexOf(place, window, out_));
    });
  }

  void emitGradient(int64_t grad, int64_t input, int64_t result) {
    SmallVector<int64_t> sizes = {samples_, int64_t(llvm::divideCeil(blocks_[0], kStripBlocks))};
    llvm::append_range(sizes, ArrayRef(blocks_).drop_front());
    sizes.push_back(channels_ / width_);
    k_.points(llvm::product_of(sizes), [&](Value point) {
      SmallVector<Value> at = k_.delinearize(point, sizes);
      const Place place = {at.front(), k_.mul(at.back(), width_)};
      SmallVector<Value> block(at.begin() + 1, at.end() - 1);
      for (size_t d = 1; d < block.size(); ++d)
        block[d] = k_.add(block[d], k_.constant(firstBlock_[d]));
      Value first = k_.add(k_.mul(at[1], kStripBlocks), k_.constant(firstBlock_[0]));
      Value end = k_.smaller(k_.add(first, k_.constant(kStripBlocks)), firstBlock_[0] + blocks_[0]);
      auto addRow = [&](SmallVector<Value> &rows, Value row) {
        block[0] = row;
        forEach(rowOverlaps(), [&](ArrayRef<int64_t> which) {
          llvm::append_range(rows, passedOn(place, windowOf(block, which), grad, input));
        });
      };
      SmallVector<Value> before;
      for (int64_t row = overlaps_[0] - 1; row > 0; --row)
        addRow(before, k_.add(first, k_.constant(-row)));
      k_.fold(first, end, 1, before, [&](Value row, ValueRange carried) -> SmallVector<Value> {
        SmallVector<Value> rows(carried);
        addRow(rows, row);
        forEach(strides_,
                [&](ArrayRef<int64_t> pixel) { write(place, block, pixel, rows, result); });
        rows.erase(rows.begin(), rows.begin() + (rows.size() - carried.size()));
        return rows;
      });
    });
  }

private:
  // The sample and the first channel of a thread.
  struct Place {
    Value sample, channel;
  };
  // Per channel, the maximum of a window and its number among the elements of the window.
  struct Maximum {
    SmallVector<Value> values, numbers;
  };

  // Calls `body` for all coordinates below `sizes`, in row-major order.
  static void forEach(ArrayRef<int64_t> sizes, llvm::function_ref<void(ArrayRef<int64_t>)> body) {
    const SmallVector<int64_t> strides = computeStrides(sizes);
    for (int64_t i = 0; i < llvm::product_of(sizes); ++i)
      body(delinearize(i, strides));
  }

  // The windows along each dim that cover pixels of a block; along the first dim only the window
  // that begins in the block.
  SmallVector<int64_t> rowOverlaps() const {
    SmallVector<int64_t> counts(overlaps_);
    counts[0] = 1;
    return counts;
  }
  // The window with this number among those of a row that cover pixels of the block.
  SmallVector<Value> windowOf(ArrayRef<Value> block, ArrayRef<int64_t> which) {
    SmallVector<Value> window(block);
    for (size_t d = 1; d < window.size(); ++d)
      window[d] = k_.add(window[d], k_.constant(which[d] + 1 - overlaps_[d]));
    return window;
  }

  Value indexOf(const Place &place, ArrayRef<Value> at, ArrayRef<int64_t> sizes) {
    Value index = place.sample;
    for (auto [x, size] : llvm::zip(at, sizes))
      index = k_.add(k_.mul(index, size), x);
    return k_.add(k_.mul(index, channels_), place.channel);
  }

  void store(ArrayRef<Value> values, int64_t result, Value index) {
    SmallVector<Value> narrow;
    for (Value value : values)
      narrow.push_back(k_.narrow(value, element_));
    k_.storeVector(narrow, result, index);
  }

  Value number(int64_t value) {
    return arith::ConstantOp::create(b_, k_.loc(), b_.getI32IntegerAttr(int32_t(value)));
  }
  Value areEqual(Value a, Value b) {
    return arith::CmpIOp::create(b_, k_.loc(), arith::CmpIPredicate::eq, a, b);
  }
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) {
    return arith::CmpFOp::create(b_, k_.loc(), predicate, a, b);
  }

  // The elements of a window along one dim: their offsets in memory, and whether they are in the
  // input (null: always). Elements outside have the offset of one inside.
  struct Line {
    SmallVector<Value> offsets, inside;
    Value first; // the first element in the input
  };
  Line lineOf(Value window, size_t d, int64_t step) {
    Line line;
    Value start = k_.add(k_.mul(window, strides_[d]), k_.constant(-pads_[d]));
    auto larger = [&](Value x) -> Value {
      return arith::MaxSIOp::create(b_, k_.loc(), x, k_.constant(0));
    };
    line.first = pads_[d] == 0
                     ? k_.constant(0)
                     : larger(k_.add(k_.constant(pads_[d]), k_.mul(window, -strides_[d])));
    for (int64_t i = 0; i < kernel_[d]; ++i) {
      Value x = k_.add(start, k_.constant(i));
      const bool isInside = i >= pads_[d] && (out_[d] - 1) * strides_[d] - pads_[d] + i < in_[d];
      line.inside.push_back(isInside ? Value() : k_.isBelow(x, in_[d]));
      line.offsets.push_back(isInside ? k_.add(k_.mul(start, step), k_.constant(i * step))
                                      : k_.mul(k_.smaller(larger(x), in_[d] - 1), step));
    }
    return line;
  }

  // The maximum of a window that exists: the first of equal ones, or the last NaN.
  Maximum maximum(const Place &place, ArrayRef<Value> window, int64_t input) {
    SmallVector<Line> lines(window.size());
    int64_t step = channels_;
    for (size_t d = window.size(); d-- > 0; step *= in_[d])
      lines[d] = lineOf(window[d], d, step);
    Value base = k_.add(k_.mul(place.sample, step), place.channel);
    SmallVector<Value> vectors, inside;
    Value first = k_.constant(0);
    for (size_t d = 0; d < lines.size(); ++d)
      first = k_.add(k_.mul(first, kernel_[d]), lines[d].first);
    forEach(kernel_, [&](ArrayRef<int64_t> at) {
      Value index = base, isInside;
      for (auto [i, line] : llvm::zip(at, lines)) {
        index = k_.add(index, line.offsets[i]);
        if (Value condition = line.inside[i])
          isInside = k_.both(isInside, condition);
      }
      vectors.push_back(k_.loadVector(input, index, element_, int(width_)));
      inside.push_back(isInside);
    });
    Maximum best;
    Value least = k_.neutral(graph::Reduction::Max, wide_);
    best.values.assign(width_, least);
    best.numbers.assign(width_,
                        arith::TruncIOp::create(b_, k_.loc(), b_.getI32Type(), first).getResult());
    for (size_t i = 0; i < vectors.size(); ++i)
      for (int64_t lane = 0; lane < width_; ++lane) {
        Value value = k_.widen(k_.elementOf(vectors[i], int(lane), element_));
        if (inside[i])
          value = k_.choose(inside[i], value, least);
        Value &most = best.values[lane], &where = best.numbers[lane];
        Value isLess = k_.both(compare(arith::CmpFPredicate::ULE, value, most),
                               compare(arith::CmpFPredicate::ORD, value, value));
        where = k_.choose(isLess, where, number(int64_t(i)));
        most = k_.choose(isLess, most, value);
      }
    return best;
  }

  // Per channel the number of the element that receives the window's gradient, then the gradients;
  // zeros if the window does not exist.
  SmallVector<Value> passedOn(const Place &place, ArrayRef<Value> window, int64_t grad,
                              int64_t input) {
    Value exists;
    for (auto [at, count] : llvm::zip(window, out_))
      exists = k_.both(exists, k_.isBelow(at, count));
    SmallVector<Type> types(width_, b_.getI32Type());
    types.append(width_, wide_);
    return k_.either(
        exists, types,
        [&] {
          SmallVector<Value> all = maximum(place, window, input).numbers;
          Value grads = k_.loadVector(grad, indexOf(place, window, out_), element_, int(width_));
          for (int64_t lane = 0; lane < width_; ++lane)
            all.push_back(k_.widen(k_.elementOf(grads, int(lane), element_)));
          return all;
        },
        [&] {
          SmallVector<Value> none(width_, number(0));
          none.append(width_, k_.scalar(wide_, 0));
          return none;
        });
  }

  // Writes a pixel of the block; `windows` is passedOn() of each window that may cover it.
  void write(const Place &place, ArrayRef<Value> block, ArrayRef<int64_t> pixel,
             ArrayRef<Value> windows, int64_t result) {
    SmallVector<Value> at;
    Value isInside;
    for (size_t d = 0; d < block.size(); ++d) {
      at.push_back(k_.add(k_.mul(block[d], strides_[d]), k_.constant(pixel[d] - pads_[d])));
      if (pads_[d] != 0 || in_[d] % strides_[d] != 0)
        isInside = k_.both(isInside, k_.isBelow(at[d], in_[d]));
    }
    auto add = [&] {
      SmallVector<Value> sums(width_, k_.scalar(wide_, 0));
      size_t next = 0;
      forEach(overlaps_, [&](ArrayRef<int64_t> which) {
        const auto passed = windows.slice(next, 2 * width_);
        next += 2 * width_;
        int64_t element = 0; // the number of the pixel in the window, if it is in it
        for (size_t d = 0; d < which.size(); ++d) {
          const int64_t place = (overlaps_[d] - 1 - which[d]) * strides_[d] + pixel[d];
          if (place >= kernel_[d])
            return;
          element = element * kernel_[d] + place;
        }
        for (int64_t lane = 0; lane < width_; ++lane) {
          Value isMine = areEqual(passed[lane], number(element));
          Value more = k_.choose(isMine, passed[width_ + lane], k_.scalar(wide_, 0));
          sums[lane] = k_.combine(graph::Reduction::Sum, element_, sums[lane], more);
        }
      });
      store(sums, result, indexOf(place, at, in_));
    };
    if (isInside)
      k_.when(isInside, add);
    else
      add();
  }

  GpuKernel &k_;
  OpBuilder &b_;
  Type element_, wide_; // stored, and computed in
  ArrayRef<int64_t> kernel_, strides_, pads_;
  int64_t samples_, channels_, width_;       // `width_`: channels of a thread
  SmallVector<int64_t> in_, out_;            // spatial sizes of the input, and of the windows
  SmallVector<int64_t> overlaps_;            // windows along a dim that cover pixels of a block
  SmallVector<int64_t> firstBlock_, blocks_; // blocks that have pixels of the input
};

} // namespace

bool isChannelsLastMaxPool(program::KernelOp kernel) {
  Operation &op = kernel.getComputation();
  if (!analysis::isSmallMaxPool(&op))
    return false;
  const bool isGradient = isa<graph::PoolGradOp>(op);
  const std::vector<int64_t> input = graph::staticShapeOf(op.getOperand(isGradient ? 1 : 0));
  // Planes of one element, and single channels, are the same in both orders.
  return input[1] > 1 && llvm::product_of(ArrayRef(input).drop_front(2)) > 1 &&
         kernel.getOperandView(isGradient ? 1 : 0).getStrides()[1] == 1;
}

void emitMaxPool(GpuKernel &k, program::KernelOp kernel) {
  Operation &op = kernel.getComputation();
  auto operand = [&](unsigned i) { return kernel.getOperandView(i).getBuffer(); };
  const int64_t result = kernel.getResultView(0).getBuffer();
  if (auto pool = dyn_cast<graph::PoolOp>(op))
    return MaxPoolEmitter(k, pool, pool.getResult()).emitForward(operand(0), result);
  auto grad = cast<graph::PoolGradOp>(op);
  MaxPoolEmitter(k, grad, grad.getGrad()).emitGradient(operand(0), operand(1), result);
}

} // namespace cleave::codegen
