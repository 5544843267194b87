// WideProducts: the products that compute in f32 although --dtype names a low type, which would
// round positions, indices or angles. They follow from what the factors are computed from:
//
//   Few         a few numbers, such as the 0 and 1 of a mask, or a scalar
//   Table       constants of the model; bounded functions, such as the sine, of positions
//   Parameter   parameters alone
//   Position    integers: positions, timesteps, counts; frequencies, distances and angles of them
//   Input       floating-point inputs, before any layer
//   Activation  results of layers: products, and rows of parameters chosen by indices
//
// An op's result has the largest of its operands' origins in this order; the exceptions are in
// WideProducts.cpp. Integers of 8 and 16 bits in the input are samples, not positions. A product is
// wide if
//   * a factor is a Position, or
//   * all factors are computed from integers and constants alone (counts are such products), or
//   * its result is an angle, of which a sine or cosine is taken, and no factor is an Activation.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/MapVector.h"

namespace cleave::precision {

// What a factor of a product is computed from.
enum class Origin { Few, Table, Parameter, Position, Input, Activation };

// The origins of all values of a step.
llvm::DenseMap<mlir::Value, Origin> originsOf(mlir::func::FuncOp step);

// The wide products of a step, in program order.
llvm::SetVector<mlir::Operation *> wideProductsOf(mlir::func::FuncOp step);

} // namespace cleave::precision
