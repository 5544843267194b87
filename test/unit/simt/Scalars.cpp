// Floats are computed as doubles and rounded once, which gives the float's own result for sums,
// products, quotients and roots.
#include "Scalars.h"

#include "CheckedMemory.h"
#include "runtime/base/Float16.h"

#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Support/MathExtras.h"

#include <bit>
#include <cmath>

namespace cleave::test {

double toDouble(const llvm::Type *type, uint64_t bits) {
  if (type->isDoubleTy())
    return std::bit_cast<double>(bits);
  if (type->isFloatTy())
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  return type->isBFloatTy() ? fromBF16(static_cast<uint16_t>(bits))
                            : fromF16(static_cast<uint16_t>(bits));
}

uint64_t fromDouble(const llvm::Type *type, double value) {
  if (type->isDoubleTy())
    return std::bit_cast<uint64_t>(value);
  auto narrow = static_cast<float>(value);
  if (type->isFloatTy())
    return std::bit_cast<uint32_t>(narrow);
  return type->isBFloatTy() ? toBF16(narrow) : toF16(narrow);
}

uint64_t zeroExtended(uint64_t bits, unsigned width) {
  return width >= 64 ? bits : bits & ((uint64_t(1) << width) - 1);
}

int64_t signExtended(uint64_t bits, unsigned width) {
  return width >= 64 ? static_cast<int64_t>(bits) : llvm::SignExtend64(bits, width);
}

static uint64_t divide(const llvm::BinaryOperator &op, uint64_t a, uint64_t b, unsigned width) {
  if (b == 0)
    throw Fault("an integer is divided by zero");
  int64_t x = signExtended(a, width), y = signExtended(b, width);
  switch (op.getOpcode()) {
  case llvm::Instruction::UDiv:
    return a / b;
  case llvm::Instruction::URem:
    return a % b;
  case llvm::Instruction::SDiv:
    return y == -1 ? 0 - a : static_cast<uint64_t>(x / y);
  default:
    return y == -1 ? 0 : static_cast<uint64_t>(x % y);
  }
}

static double evaluateFloats(unsigned opcode, double a, double b) {
  switch (opcode) {
  case llvm::Instruction::FAdd:
    return a + b;
  case llvm::Instruction::FSub:
    return a - b;
  case llvm::Instruction::FMul:
    return a * b;
  case llvm::Instruction::FDiv:
    return a / b;
  default:
    return std::fmod(a, b);
  }
}

uint64_t evaluateBinary(const llvm::BinaryOperator &op, uint64_t a, uint64_t b) {
  llvm::Type *type = op.getType()->getScalarType();
  if (type->isFloatingPointTy())
    return fromDouble(type, evaluateFloats(op.getOpcode(), toDouble(type, a), toDouble(type, b)));
  unsigned width = type->getIntegerBitWidth();
  auto result = [&]() -> uint64_t {
    switch (op.getOpcode()) {
    case llvm::Instruction::Add:
      return a + b;
    case llvm::Instruction::Sub:
      return a - b;
    case llvm::Instruction::Mul:
      return a * b;
    case llvm::Instruction::Shl:
      return b < width ? a << b : 0;
    case llvm::Instruction::LShr:
      return b < width ? a >> b : 0;
    case llvm::Instruction::AShr:
      return static_cast<uint64_t>(signExtended(a, width) >> std::min<uint64_t>(b, 63));
    case llvm::Instruction::And:
      return a & b;
    case llvm::Instruction::Or:
      return a | b;
    case llvm::Instruction::Xor:
      return a ^ b;
    default:
      return divide(op, a, b, width);
    }
  }();
  return zeroExtended(result, width);
}

bool evaluateCompare(const llvm::CmpInst &op, uint64_t a, uint64_t b) {
  llvm::Type *type = op.getOperand(0)->getType()->getScalarType();
  llvm::CmpInst::Predicate predicate = op.getPredicate();
  if (type->isFloatingPointTy()) {
    double x = toDouble(type, a), y = toDouble(type, b);
    // The predicate's number has a bit for each of unordered, less, greater, equal.
    unsigned relation = std::isnan(x) || std::isnan(y) ? 8 : x < y ? 4 : x > y ? 2 : 1;
    return (predicate & relation) != 0;
  }
  unsigned width = type->isPointerTy() ? 64 : type->getIntegerBitWidth();
  return llvm::ICmpInst::compare(llvm::APInt(width, a), llvm::APInt(width, b), predicate);
}

uint64_t evaluateCast(const llvm::CastInst &op, uint64_t a) {
  llvm::Type *from = op.getSrcTy()->getScalarType(), *to = op.getDestTy()->getScalarType();
  unsigned width = from->isPointerTy() ? 64 : from->getScalarSizeInBits();
  unsigned toWidth = to->isPointerTy() ? 64 : to->getScalarSizeInBits();
  switch (op.getOpcode()) {
  case llvm::Instruction::SExt:
    return zeroExtended(static_cast<uint64_t>(signExtended(a, width)), toWidth);
  case llvm::Instruction::FPTrunc:
  case llvm::Instruction::FPExt:
    return fromDouble(to, toDouble(from, a));
  case llvm::Instruction::UIToFP:
    return to->isFloatTy() ? fromDouble(to, static_cast<float>(a))
                           : fromDouble(to, static_cast<double>(a));
  case llvm::Instruction::SIToFP: {
    int64_t value = signExtended(a, width);
    return to->isFloatTy() ? fromDouble(to, static_cast<float>(value))
                           : fromDouble(to, static_cast<double>(value));
  }
  case llvm::Instruction::FPToSI:
    return zeroExtended(static_cast<uint64_t>(static_cast<int64_t>(toDouble(from, a))), toWidth);
  case llvm::Instruction::FPToUI: {
    double value = toDouble(from, a);
    uint64_t whole = value < 0 ? static_cast<uint64_t>(static_cast<int64_t>(value))
                               : static_cast<uint64_t>(value);
    return zeroExtended(whole, toWidth);
  }
  default: // zext, trunc, bitcast and casts of pointers
    return zeroExtended(a, toWidth);
  }
}

static double evaluateFloatIntrinsic(unsigned id, llvm::ArrayRef<double> x) {
  bool isNan = x.size() > 1 && (std::isnan(x[0]) || std::isnan(x[1]));
  switch (id) {
  case llvm::Intrinsic::fabs:
    return std::fabs(x[0]);
  case llvm::Intrinsic::sqrt:
    return std::sqrt(x[0]);
  case llvm::Intrinsic::nvvm_ex2_approx_ftz:
    return x[0] < -126 ? 0 : std::exp2(x[0]);
  case llvm::Intrinsic::nvvm_rcp_approx_ftz_f:
    return std::fabs(x[0]) > 0x1p126 ? 0 : 1 / x[0];
  case llvm::Intrinsic::floor:
    return std::floor(x[0]);
  case llvm::Intrinsic::ceil:
    return std::ceil(x[0]);
  case llvm::Intrinsic::trunc:
    return std::trunc(x[0]);
  case llvm::Intrinsic::round:
    return std::round(x[0]);
  case llvm::Intrinsic::rint:
  case llvm::Intrinsic::nearbyint:
  case llvm::Intrinsic::roundeven:
    return std::nearbyint(x[0]);
  case llvm::Intrinsic::copysign:
    return std::copysign(x[0], x[1]);
  case llvm::Intrinsic::maximum:
    return isNan ? NAN : x[0] == x[1] ? (std::signbit(x[0]) ? x[1] : x[0]) : std::fmax(x[0], x[1]);
  case llvm::Intrinsic::minimum:
    return isNan ? NAN : x[0] == x[1] ? (std::signbit(x[0]) ? x[0] : x[1]) : std::fmin(x[0], x[1]);
  case llvm::Intrinsic::maxnum:
    return std::fmax(x[0], x[1]);
  case llvm::Intrinsic::minnum:
    return std::fmin(x[0], x[1]);
  default:
    throw Fault("calls " + llvm::Intrinsic::getBaseName(id).str() +
                ", which the interpreter does not know");
  }
}

static uint64_t evaluateIntegerIntrinsic(const llvm::CallInst &call, llvm::ArrayRef<uint64_t> x,
                                         unsigned width) {
  auto asSigned = [&](uint64_t value) { return signExtended(value, width); };
  switch (call.getIntrinsicID()) {
  case llvm::Intrinsic::smax:
    return asSigned(x[0]) > asSigned(x[1]) ? x[0] : x[1];
  case llvm::Intrinsic::smin:
    return asSigned(x[0]) < asSigned(x[1]) ? x[0] : x[1];
  case llvm::Intrinsic::umax:
    return std::max(x[0], x[1]);
  case llvm::Intrinsic::umin:
    return std::min(x[0], x[1]);
  case llvm::Intrinsic::abs:
    return asSigned(x[0]) < 0 ? 0 - x[0] : x[0];
  case llvm::Intrinsic::usub_sat:
    return x[0] > x[1] ? x[0] - x[1] : 0;
  case llvm::Intrinsic::ctlz:
    return static_cast<uint64_t>(std::countl_zero(x[0])) - (64 - width);
  case llvm::Intrinsic::cttz:
    return x[0] ? std::countr_zero(x[0]) : width;
  case llvm::Intrinsic::ctpop:
    return std::popcount(x[0]);
  case llvm::Intrinsic::bitreverse: {
    uint64_t reversed = 0;
    for (unsigned i = 0; i < width; ++i)
      reversed |= (x[0] >> i & 1) << (width - 1 - i);
    return reversed;
  }
  case llvm::Intrinsic::fshl: {
    uint64_t n = x[2] % width;
    return n ? x[0] << n | x[1] >> (width - n) : x[0];
  }
  case llvm::Intrinsic::fshr: {
    uint64_t n = x[2] % width;
    return n ? x[0] << (width - n) | x[1] >> n : x[1];
  }
  default:
    throw Fault("calls " + call.getCalledFunction()->getName().str() +
                ", which the interpreter does not know");
  }
}

uint64_t evaluateIntrinsic(const llvm::CallInst &call, llvm::ArrayRef<uint64_t> arguments) {
  llvm::Type *type = call.getType()->getScalarType();
  if (!type->isFloatingPointTy())
    return zeroExtended(evaluateIntegerIntrinsic(call, arguments, type->getIntegerBitWidth()),
                        type->getIntegerBitWidth());
  llvm::SmallVector<double> x;
  for (uint64_t argument : arguments)
    x.push_back(toDouble(type, argument));
  unsigned id = call.getIntrinsicID();
  if (id == llvm::Intrinsic::fma || id == llvm::Intrinsic::fmuladd)
    return type->isDoubleTy()
               ? fromDouble(type, std::fma(x[0], x[1], x[2]))
               : fromDouble(type, std::fmaf(static_cast<float>(x[0]), static_cast<float>(x[1]),
                                            static_cast<float>(x[2])));
  return fromDouble(type, evaluateFloatIntrinsic(id, x));
}

} // namespace cleave::test
