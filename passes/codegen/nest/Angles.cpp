// Cody and Waite's reduction (Software Manual for the Elementary Functions, 1980): 2 pi is the sum
// of three numbers, of which the first two have 8 and 10 bits, so that their products with the
// number of turns are exact for up to 2^16 and 2^14 turns.
#include "passes/codegen/nest/Angles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace cleave::codegen {

static constexpr double kTwoPi = 6.283185307179586;
static constexpr double kFirst = 201.0 / 32, kSecond = 1014.0 / (1 << 19),
                        kThird = kTwoPi - kFirst - kSecond;

static void reduce(Operation *op) {
  OpBuilder b(op);
  const Location loc = op->getLoc();
  Value x = op->getOperand(0);
  const Type type = x.getType();
  auto number = [&](double value) -> Value {
    TypedAttr attribute = b.getF32FloatAttr(static_cast<float>(value));
    if (auto vector = dyn_cast<VectorType>(type))
      attribute = DenseElementsAttr::get(vector, Attribute(attribute));
    return arith::ConstantOp::create(b, loc, type, attribute);
  };
  Value turns = math::RoundEvenOp::create(
      b, loc, arith::MulFOp::create(b, loc, x, number(1 / kTwoPi)).getResult());
  for (double part : {kFirst, kSecond, kThird})
    x = arith::SubFOp::create(b, loc, x, arith::MulFOp::create(b, loc, turns, number(part)));
  op->setOperand(0, x);
}

void reduceAngles(ModuleOp module) {
  SmallVector<Operation *> angles;
  module.walk([&](Operation *op) {
    if (isa<math::SinOp, math::CosOp>(op) && getElementTypeOrSelf(op->getResult(0)).isF32())
      angles.push_back(op);
  });
  for (Operation *op : angles)
    reduce(op);
}

} // namespace cleave::codegen
