// F32Region: the borders of a region that computes in f32, whatever --dtype says. Not included by
// GraphOps.td, because few files need these ops.

#ifndef CLEAVE_GRAPH_F32_REGION
#define CLEAVE_GRAPH_F32_REGION

include "dialects/graph/GraphBase.td"

// The identity at a border of the region.
class Graph_F32BorderOp<string mnemonic> : Graph_PrimitiveOp<mnemonic, [
    SameOperandsAndResultType, ElementCopy, BufferSharing]> {
  let arguments = (ins Graph_TensorOf<[F32]>:$operand);
  let results = (outs Graph_TensorOf<[F32]>:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

def Graph_EnterF32Op : Graph_F32BorderOp<"enter_f32"> {
  let summary = "Identity at the entry of a region that computes in f32";
  let description = [{
    `result = operand`. An op that reads the result, itself or through other ops up to a
    graph.leave_f32, computes in f32. The phase `train` drops the op. Elements are f32.

    (C1) `operand` and `result` have the same type.

    ```mlir
    func.func @example(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %result = graph.enter_f32 %x : tensor<4x8xf32>
      return %result : tensor<4x8xf32>
    }
    ```
  }];
}

def Graph_LeaveF32Op : Graph_F32BorderOp<"leave_f32"> {
  let summary = "Identity at the exit of a region that computes in f32";
  let description = [{
    `result = operand`. Ops that read the result compute as `--dtype` says: the region that began
    with graph.enter_f32 ends. The phase `train` drops the op. Elements are f32.

    (C1) `operand` and `result` have the same type.

    ```mlir
    func.func @example(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %result = graph.leave_f32 %x : tensor<4x8xf32>
      return %result : tensor<4x8xf32>
    }
    ```
  }];
}

#endif
