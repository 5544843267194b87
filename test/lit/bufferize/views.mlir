// Movement of data: what is only another view of a buffer, and what is copied.
// RUN: cleave-opt %s --split-input-file --cleave-bufferize | FileCheck %s

// A slice with a step is an offset and a stride of the reading kernel.
// CHECK-LABEL: module
// CHECK: program.kernel @{{.*}} on 2 operands [#program.view<0 at 1 by[8, 2]>] results [#program.view<1 at 0 by[3, 1]>]
// CHECK: program.segment
// CHECK-NEXT: program.load_input
// CHECK-NEXT: program.launch
// CHECK-NEXT: program.copy
module {
  func.func @step(%x: tensor<4x8xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<4x3xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.slice %x dim 1 from 1 step 2 : tensor<4x8xf32> -> tensor<4x3xf32>
    %1 = graph.fusion (%a = %0 : tensor<4x3xf32>) -> (tensor<4x3xf32>) {
      %2 = graph.exp %a : tensor<4x3xf32>
      graph.yield %2 : tensor<4x3xf32>
    }
    return %1 : tensor<4x3xf32>
  }
}

// -----

// A reversal is a negative stride from the last element.
// CHECK-LABEL: module
// CHECK: program.kernel @{{.*}} on 2 operands [#program.view<0 at 7 by[-1]>] results [#program.view<1 at 0 by[1]>]
module {
  func.func @step(%x: tensor<8xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<8xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.reverse %x dim 0 : tensor<8xf32>
    %1 = graph.fusion (%a = %0 : tensor<8xf32>) -> (tensor<8xf32>) {
      %2 = graph.exp %a : tensor<8xf32>
      graph.yield %2 : tensor<8xf32>
    }
    return %1 : tensor<8xf32>
  }
}

// -----

// Views of views add up: the reversal of a slice of a transpose.
// CHECK-LABEL: module
// CHECK: program.kernel @{{.*}} on 2 operands [#program.view<0 at 10 by[-1, 8]>]
module {
  func.func @step(%x: tensor<4x8xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<3x3xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.transpose %x by [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
    %1 = graph.slice %0 dim 1 from 1 step 1 : tensor<8x4xf32> -> tensor<8x3xf32>
    %2 = graph.slice %1 dim 0 from 0 step 1 : tensor<8x3xf32> -> tensor<3x3xf32>
    %3 = graph.reverse %2 dim 0 : tensor<3x3xf32>
    %4 = graph.fusion (%a = %3 : tensor<3x3xf32>) -> (tensor<3x3xf32>) {
      %5 = graph.exp %a : tensor<3x3xf32>
      graph.yield %5 : tensor<3x3xf32>
    }
    return %4 : tensor<3x3xf32>
  }
}

// -----

// A reshape that joins dims in another order than they lie copies them first.
// CHECK-LABEL: module
// CHECK: program.buffer workspace "dense" tensor<6x4xf32>
// CHECK: program.launch @{{.*}}_copy(%{{.*}}, %[[D:.*]]) writes [1]
// CHECK-NEXT: program.copy %[[D]]
module {
  func.func @step(%x: tensor<4x6xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<24xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.transpose %x by [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
    %1 = graph.reshape %0 : tensor<6x4xf32> -> tensor<24xf32>
    return %1 : tensor<24xf32>
  }
}

// -----

// A reshape that divides a dim of a transposed tensor is a view.
// CHECK-LABEL: module
// CHECK-NOT: workspace
// CHECK: program.launch @{{.*}}_copy
// CHECK-NOT: program.launch
module {
  func.func @step(%x: tensor<4x6xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<3x2x4xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.transpose %x by [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
    %1 = graph.reshape %0 : tensor<6x4xf32> -> tensor<3x2x4xf32>
    return %1 : tensor<3x2x4xf32>
  }
}

// -----

// A pad fills the whole result and copies the operand to its places, which lie apart.
// CHECK-LABEL: module
// CHECK: program.kernel @[[K:.*]] on 2 operands [#program.view<0 at 0 by[1]>] results [#program.view<1 at 1 by[2]>]
// CHECK: program.buffer activation "pad" tensor<6xf32>
// CHECK: program.fill %[[P:.*]] with 3.0
// CHECK-NEXT: program.launch @[[K]](%{{.*}}, %[[P]]) writes [1]
module {
  func.func @step(%x: tensor<3xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<6xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.pad %x dim 0 low 1 {interior = 1 : i64, value = 3.0 : f64} : tensor<3xf32> -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }
}

// -----

// Groups write their results right into a concatenation; an argument is copied.
// CHECK-LABEL: module
// CHECK: program.kernel @[[EXP:.*]] on 2 {{.*}} results [#program.view<1 at 0 by[1]>]
// CHECK: program.kernel @[[COPY:.*]] on 2 {{.*}} results [#program.view<1 at 4 by[1]>]
// CHECK: %[[C:.*]] = program.buffer activation "concat" tensor<6xf32>
// CHECK: program.launch @[[EXP]](%{{.*}}, %[[C]]) writes [1]
// CHECK-NEXT: program.launch @[[COPY]](%{{.*}}, %[[C]]) writes [1]
// CHECK-NEXT: program.copy %[[C]]
module {
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"}, %z: tensor<2xf32> {graph.name = "z", graph.role = "input"})
      -> (tensor<6xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.fusion (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
      %2 = graph.exp %a : tensor<4xf32>
      graph.yield %2 : tensor<4xf32>
    }
    %1 = graph.concat %0, %z dim 0 : tensor<4xf32>, tensor<2xf32> -> tensor<6xf32>
    return %1 : tensor<6xf32>
  }
}

// -----

// A concatenation along a later dim is written with the strides of the whole.
// CHECK-LABEL: module
// CHECK: results [#program.view<1 at 0 by[5, 1]>]
// CHECK: results [#program.view<1 at 3 by[5, 1]>]
// CHECK: program.segment
module {
  func.func @step(%x: tensor<4x3xf32> {graph.name = "x", graph.role = "input"}, %z: tensor<4x2xf32> {graph.name = "z", graph.role = "input"})
      -> (tensor<4x5xf32> {graph.name = "y", graph.role = "output"}) {
    %1 = graph.concat %x, %z dim 1 : tensor<4x3xf32>, tensor<4x2xf32> -> tensor<4x5xf32>
    return %1 : tensor<4x5xf32>
  }
}

// -----

// A group whose result is read elsewhere too is written to memory of its own and copied.
// CHECK-LABEL: module
// CHECK: program.launch @{{.*}}_exp(%{{.*}}, %[[E:.*]]) writes [1]
// CHECK: program.launch @{{.*}}_copy(%[[E]], %[[C:.*]]) writes [1]
// CHECK: program.copy %[[C]]
// CHECK: program.copy %[[E]]
module {
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "constant"})
      -> (tensor<8xf32> {graph.name = "y", graph.role = "output"}, tensor<4xf32> {graph.name = "z", graph.role = "output"}) {
    %0 = graph.fusion (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
      %2 = graph.exp %a : tensor<4xf32>
      graph.yield %2 : tensor<4xf32>
    }
    %1 = graph.concat %0, %x dim 0 : tensor<4xf32>, tensor<4xf32> -> tensor<8xf32>
    return %1, %0 : tensor<8xf32>, tensor<4xf32>
  }
}

// -----

// A kernel of its own reads whole tensors: a slice is copied before a scan.
// CHECK-LABEL: module
// CHECK: program.buffer workspace "dense" tensor<4x3xf32>
// CHECK: program.launch @{{.*}}_copy(%{{.*}}, %[[D:.*]]) writes [1]
// CHECK-NEXT: program.launch @{{.*}}_scan(%[[D]], %{{.*}}) writes [1]
module {
  func.func @step(%x: tensor<4x8xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<4x3xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.slice %x dim 1 from 1 step 1 : tensor<4x8xf32> -> tensor<4x3xf32>
    %1 = graph.scan sum %0 dim 1 : tensor<4x3xf32>
    return %1 : tensor<4x3xf32>
  }
}

// -----

// A product whose result is transposed is computed as the transposed product, without a copy.
// CHECK-LABEL: module
// CHECK-NOT: program.launch
// CHECK: program.matmul %[[W:.*]] <0 at 0 by[1, 6]>, %[[X:.*]] <1 at 0 by[1, 8]> to %{{.*}} <2 at 0 by[4, 1]> batch [] m 6 n 4 k 8
// CHECK-NOT: program.launch
module {
  func.func @step(%x: tensor<4x8xf32> {graph.name = "x", graph.role = "input"}, %w: tensor<8x6xf32> {graph.name = "w", graph.role = "constant"})
      -> (tensor<6x4xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<4x8xf32>, tensor<8x6xf32> -> tensor<4x6xf32>
    %1 = graph.transpose %0 by [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
    return %1 : tensor<6x4xf32>
  }
}

// -----

// Leading dims of a product with a matrix are one dim of rows.
// CHECK-LABEL: module
// CHECK: program.matmul {{.*}} batch [] m 12 n 6 k 8
module {
  func.func @step(%x: tensor<3x4x8xf32> {graph.name = "x", graph.role = "input"}, %w: tensor<8x6xf32> {graph.name = "w", graph.role = "constant"})
      -> (tensor<3x4x6xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.dot_general %x, %w batch [] x [] contract [2] x [0] : tensor<3x4x8xf32>, tensor<8x6xf32> -> tensor<3x4x6xf32>
    return %0 : tensor<3x4x6xf32>
  }
}

// -----

// An operand with no stride of 1 is copied before a product.
// CHECK-LABEL: module
// CHECK: program.buffer workspace "dense" tensor<4x4xf32>
// CHECK: program.launch @{{.*}}_copy(%{{.*}}, %[[D:.*]]) writes [1]
// CHECK-NEXT: program.matmul %[[D]] <0 at 0 by[4, 1]>
module {
  func.func @step(%x: tensor<4x8xf32> {graph.name = "x", graph.role = "input"}, %w: tensor<4x6xf32> {graph.name = "w", graph.role = "constant"})
      -> (tensor<4x6xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.slice %x dim 1 from 0 step 2 : tensor<4x8xf32> -> tensor<4x4xf32>
    %1 = graph.dot_general %0, %w batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x6xf32> -> tensor<4x6xf32>
    return %1 : tensor<4x6xf32>
  }
}

// -----

// A convolution names input, weight and output in this order, whichever of them it computes.
// CHECK-LABEL: module
// CHECK: program.buffer input "dy"
// CHECK: program.buffer input "x"
// CHECK: program.convolution weight_gradient %[[X:.*]] [2, 3, 8], %[[W:.*]] [4, 3, 3], %[[DY:.*]] [2, 4, 8] strides [1] dilations [1] pads [1], [1] groups 1
// CHECK-NEXT: program.copy %[[W]]
module {
  func.func @step(%dy: tensor<2x4x8xf32> {graph.name = "dy", graph.role = "input"}, %x: tensor<2x3x8xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<4x3x3xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.conv_weight_grad %dy, %x {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 1>,
        pads_high = array<i64: 1>, groups = 1 : i64} : tensor<2x4x8xf32>, tensor<2x3x8xf32> -> tensor<4x3x3xf32>
    return %0 : tensor<4x3x3xf32>
  }
}

// -----

// A group between a transposed operand and a product writes its result in the operand's order.
// CHECK-LABEL: module
// CHECK: program.kernel @[[K:.*]] on 2 operands [#program.view<0 at 0 by[1, 8]>] results [#program.view<1 at 0 by[1, 8]>]
// CHECK: program.launch @[[K]](%{{.*}}, %[[E:.*]]) writes [1]
// CHECK-NEXT: program.matmul %{{.*}} <0 at 0 by[8, 1]>, %[[E]] <1 at 0 by[1, 8]>
module {
  func.func @step(%x: tensor<4x8xf32> {graph.name = "x", graph.role = "input"}, %w: tensor<6x8xf32> {graph.name = "w", graph.role = "constant"})
      -> (tensor<4x6xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.transpose %w by [1, 0] : tensor<6x8xf32> -> tensor<8x6xf32>
    %1 = graph.fusion (%a = %0 : tensor<8x6xf32>) -> (tensor<8x6xf32>) {
      %2 = graph.exp %a : tensor<8x6xf32>
      graph.yield %2 : tensor<8x6xf32>
    }
    %3 = graph.dot_general %x, %1 batch [] x [] contract [1] x [0] : tensor<4x8xf32>, tensor<8x6xf32> -> tensor<4x6xf32>
    return %3 : tensor<4x6xf32>
  }
}

// -----

// Not where another op reads the result too: it is written in row-major order.
// CHECK-LABEL: module
// CHECK: program.kernel @{{.*}} on 2 operands [#program.view<0 at 0 by[1, 8]>] results [#program.view<1 at 0 by[6, 1]>]
module {
  func.func @step(%x: tensor<4x8xf32> {graph.name = "x", graph.role = "input"}, %w: tensor<6x8xf32> {graph.name = "w", graph.role = "constant"})
      -> (tensor<4x6xf32> {graph.name = "y", graph.role = "output"}, tensor<8x6xf32> {graph.name = "z", graph.role = "output"}) {
    %0 = graph.transpose %w by [1, 0] : tensor<6x8xf32> -> tensor<8x6xf32>
    %1 = graph.fusion (%a = %0 : tensor<8x6xf32>) -> (tensor<8x6xf32>) {
      %2 = graph.exp %a : tensor<8x6xf32>
      graph.yield %2 : tensor<8x6xf32>
    }
    %3 = graph.dot_general %x, %1 batch [] x [] contract [1] x [0] : tensor<4x8xf32>, tensor<8x6xf32> -> tensor<4x6xf32>
    return %3, %1 : tensor<4x6xf32>, tensor<8x6xf32>
  }
}

// -----

// A group that writes a transposed result reads a product that is computed in the same order.
// CHECK-LABEL: module
// CHECK: program.kernel @[[K:.*]] on 2 operands [#program.view<0 at 0 by[1, 4]>] results [#program.view<1 at 0 by[1, 4]>]
// CHECK: program.matmul {{.*}} to %[[P:.*]] <2 at 0 by[4, 1]> batch [] m 6 n 4 k 8
// CHECK-NEXT: program.launch @[[K]](%[[P]], %[[T:.*]]) writes [1]
// CHECK-NEXT: program.copy %[[T]]
module {
  func.func @step(%x: tensor<4x8xf32> {graph.name = "x", graph.role = "input"}, %w: tensor<8x6xf32> {graph.name = "w", graph.role = "constant"})
      -> (tensor<6x4xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<4x8xf32>, tensor<8x6xf32> -> tensor<4x6xf32>
    %1 = graph.fusion (%a = %0 : tensor<4x6xf32>) -> (tensor<4x6xf32>) {
      %2 = graph.exp %a : tensor<4x6xf32>
      graph.yield %2 : tensor<4x6xf32>
    }
    %3 = graph.transpose %1 by [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
    return %3 : tensor<6x4xf32>
  }
}
