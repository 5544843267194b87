// Windows of a plane, then elements of it.
#include "passes/codegen/gpu/GpuPoolGrad.h"

#include "passes/codegen/nest/PoolWindows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace cleave::codegen {

namespace {

// Shared memory for the windows of a plane. In a larger plane, every element evaluates the windows
// that cover it again.
constexpr int64_t kMostBytes = 40 << 10;

class PoolGradEmitter {
public:
  PoolGradEmitter(GpuKernel &k, graph::PoolGradOp op, program::ViewAttr grad,
                  program::ViewAttr input, int64_t result)
      : k_(k), b_(k.builder()), w_(k, op, input, grad), grad_(grad.getBuffer()),
        input_(input.getBuffer()), result_(result) {}

  void emit() {
    int64_t threads = std::clamp<int64_t>(llvm::alignTo(w_.inSize(), kWarp), kWarp, kThreads);
    k_.setLaunch({w_.planes(), static_cast<int>(threads)});
    setPlane(k_.block());
    int64_t bytes = sizeof(int32_t) + w_.wide().getIntOrFloatBitWidth() / 8;
    if (w_.outSize() * bytes <= kMostBytes) {
      if (w_.isMax())
        positions_ = k_.shared(std::max<int64_t>(w_.outSize(), 1), b_.getI32Type());
      shares_ = k_.shared(std::max<int64_t>(w_.outSize(), 1), w_.wide());
      elements(w_.outSize(), threads, [&](Value output) {
        PassedOn passedOn = evaluate(output);
        if (w_.isMax())
          k_.storeTo(passedOn.position, positions_, output);
        k_.storeTo(passedOn.share, shares_, output);
      });
      k_.barrier();
    }
    elements(w_.inSize(), threads, [&](Value element) { write(element); });
  }

private:
  void setPlane(Value plane) {
    inputBase_ = w_.firstOf(plane, w_.inSize());
    outputBase_ = w_.firstOf(plane, w_.outSize());
  }
  void write(Value element) {
    k_.store(k_.narrow(sumAt(element), w_.element()), result_, w_.inPlane(inputBase_, element));
  }

  void elements(int64_t count, int64_t threads, const KernelBuilder::Body &body) {
    k_.loop(k_.thread(), k_.constant(count), threads, body);
  }

  // A window passes its share on to the position of its maximum, or to each of its elements.
  struct PassedOn {
    Value position, share;
  };
  PassedOn evaluate(Value output) {
    PoolWindows::Summary summary =
        w_.summarise(k_.delinearize(output, w_.out()), inputBase_, input_);
    Value grad = k_.widen(k_.load(grad_, w_.inPlane(outputBase_, output), w_.element()));
    if (w_.isMax())
      return {arith::TruncIOp::create(b_, k_.loc(), b_.getI32Type(), summary.position), grad};
    return {{}, arith::DivFOp::create(b_, k_.loc(), grad, summary.divisor)};
  }
  PassedOn passedOnBy(Value output) {
    if (!shares_)
      return evaluate(output);
    return {w_.isMax() ? k_.loadFrom(positions_, output, b_.getI32Type()) : Value(),
            k_.loadFrom(shares_, output, w_.wide())};
  }

  // The part of the element in the share of the window.
  Value contribution(Value output, Value element) {
    PassedOn passedOn = passedOnBy(output);
    if (!w_.isMax())
      return passedOn.share;
    Value mine = arith::TruncIOp::create(b_, k_.loc(), b_.getI32Type(), element);
    Value isMine =
        arith::CmpIOp::create(b_, k_.loc(), arith::CmpIPredicate::eq, passedOn.position, mine);
    return k_.choose(isMine, passedOn.share, k_.scalar(w_.wide(), 0));
  }

  // The most windows that cover an element along a dim.
  int64_t windows(size_t d) const {
    const graph::Window &w = w_.window();
    return llvm::divideCeil((w.kernel[d] - 1) * w.dilations[d] + 1, w.strides[d]);
  }

  // The sum over the windows that cover the element.
  Value sumAt(Value element) {
    SmallVector<Value> at = k_.delinearize(element, w_.in());
    SmallVector<int64_t> counts;
    for (size_t d = 0; d < at.size(); ++d)
      counts.push_back(windows(d));
    auto add = [&](Value number, ValueRange carried) -> SmallVector<Value> {
      SmallVector<Value> which = k_.delinearize(number, counts);
      Value output = k_.constant(0), covers;
      for (size_t d = 0; d < at.size(); ++d) {
        Value window = windowAt(at[d], which[d], d, covers);
        output = k_.add(k_.mul(output, w_.out()[d]), window);
      }
      Value more = k_.guarded(covers, [&] { return contribution(output, element); });
      return {k_.combine(graph::Reduction::Sum, w_.element(), carried[0], more)};
    };
    return k_.fold(k_.constant(0), k_.constant(llvm::product_of(counts)), 1,
                   k_.scalar(w_.wide(), 0), add)[0];
  }

  // The `which`-th window along dim `d` that may cover the coordinate `x`, from the lowest one on;
  // adds to `covers` whether it exists and does.
  Value windowAt(Value x, Value which, size_t d, Value &covers) {
    const graph::Window &w = w_.window();
    // Counts from a window at or before the first element, so that nothing is negative.
    int64_t shift = std::max<int64_t>(0, llvm::divideCeilSigned(-w.padsLow[d], w.strides[d]));
    Value place = k_.add(x, k_.constant(w.padsLow[d] + shift * w.strides[d]));
    Value last = arith::DivUIOp::create(b_, k_.loc(), place, k_.constant(w.strides[d]));
    Value window = k_.add(k_.add(last, which), k_.constant(1 - windows(d)));
    Value inWindow =
        arith::SubIOp::create(b_, k_.loc(), place, k_.mul(window, w.strides[d])).getResult();
    auto require = [&](Value condition) { covers = k_.both(covers, condition); };
    window = k_.add(window, k_.constant(-shift));
    require(k_.isBelow(window, w_.out()[d]));
    require(k_.isBelow(inWindow, (w.kernel[d] - 1) * w.dilations[d] + 1));
    if (w.dilations[d] > 1)
      require(arith::CmpIOp::create(
          b_, k_.loc(), arith::CmpIPredicate::eq,
          arith::RemUIOp::create(b_, k_.loc(), inWindow, k_.constant(w.dilations[d])),
          k_.constant(0)));
    return window;
  }

  GpuKernel &k_;
  OpBuilder &b_;
  PoolWindows w_;
  int64_t grad_, input_, result_;
  Value inputBase_, outputBase_;
  Value positions_, shares_; // shared memory, null: none
};

} // namespace

void emitPoolGrad(GpuKernel &k, program::KernelOp kernel) {
  PoolGradEmitter(k, cast<graph::PoolGradOp>(kernel.getComputation()), kernel.getOperandView(0),
                  kernel.getOperandView(1), kernel.getResultView(0).getBuffer())
      .emit();
}

} // namespace cleave::codegen
