// Results that are written where an operand lies, and those that are not.
// RUN: cleave-opt %s --split-input-file --cleave-bufferize | FileCheck %s

// A group writes over an operand that nothing reads later.
// CHECK-LABEL: module
// CHECK: program.matmul {{.*}} to %[[P:.*]] <2 at 0
// CHECK-NEXT: program.launch @{{.*}}(%[[P]]) writes [0]
module {
  func.func @step(%x: tensor<4x4xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<4x4xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.dot_general %x, %x batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    %1 = graph.fusion (%a = %0 : tensor<4x4xf32>) -> (tensor<4x4xf32>) {
      %2 = graph.exp %a : tensor<4x4xf32>
      graph.yield %2 : tensor<4x4xf32>
    }
    return %1 : tensor<4x4xf32>
  }
}

// -----

// Not over one that a later op reads.
// CHECK-LABEL: module
// CHECK: program.matmul {{.*}} to %[[P:.*]] <2 at 0
// CHECK-NEXT: program.launch @{{.*}}(%[[P]], %[[E:.*]]) writes [1]
// CHECK-NEXT: program.matmul %[[E]] {{.*}}, %[[P]]
module {
  func.func @step(%x: tensor<4x4xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<4x4xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.dot_general %x, %x batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    %1 = graph.fusion (%a = %0 : tensor<4x4xf32>) -> (tensor<4x4xf32>) {
      %2 = graph.exp %a : tensor<4x4xf32>
      graph.yield %2 : tensor<4x4xf32>
    }
    %3 = graph.dot_general %1, %0 batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    return %3 : tensor<4x4xf32>
  }
}

// -----

// Not over one of which a view is read later.
// CHECK-LABEL: module
// CHECK: program.matmul {{.*}} to %[[P:.*]] <2 at 0
// CHECK-NEXT: program.launch @{{.*}}(%[[P]], %[[E:.*]]) writes [1]
// CHECK-NEXT: program.matmul %[[E]] {{.*}}, %[[P]] <1 at 0 by[1, 4]>
module {
  func.func @step(%x: tensor<4x4xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<4x4xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.dot_general %x, %x batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    %t = graph.transpose %0 by [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %1 = graph.fusion (%a = %0 : tensor<4x4xf32>) -> (tensor<4x4xf32>) {
      %2 = graph.exp %a : tensor<4x4xf32>
      graph.yield %2 : tensor<4x4xf32>
    }
    %3 = graph.dot_general %1, %t batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    return %3 : tensor<4x4xf32>
  }
}

// -----

// Not over a tensor that outlives the step.
// CHECK-LABEL: module
// CHECK: %[[X:.*]] = program.buffer constant "x"
// CHECK: program.launch @{{.*}}(%[[X]], %{{.*}}) writes [1]
module {
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "constant"})
      -> (tensor<4xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.fusion (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
      %1 = graph.exp %a : tensor<4xf32>
      graph.yield %1 : tensor<4xf32>
    }
    return %0 : tensor<4xf32>
  }
}

// -----

// Not over a tensor of another element type.
// CHECK-LABEL: module
// CHECK: program.matmul {{.*}} to %[[P:.*]] <2 at 0
// CHECK-NEXT: program.launch @{{.*}}(%[[P]], %{{.*}}) writes [1]
module {
  func.func @step(%x: tensor<4x4xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<4x4xi32> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.dot_general %x, %x batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    %1 = graph.fusion (%a = %0 : tensor<4x4xf32>) -> (tensor<4x4xi32>) {
      %2 = graph.cast %a : tensor<4x4xf32> -> tensor<4x4xi32>
      graph.yield %2 : tensor<4x4xi32>
    }
    return %1 : tensor<4x4xi32>
  }
}

// -----

// Not where the group reads the operand transposed: elements would be overwritten unread.
// CHECK-LABEL: module
// CHECK: program.matmul {{.*}} to %[[P:.*]] <2 at 0
// CHECK-NEXT: program.launch @{{.*}}(%[[P]], %{{.*}}) writes [1]
module {
  func.func @step(%x: tensor<4x4xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<4x4xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.dot_general %x, %x batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    %1 = graph.fusion (%a = %0 : tensor<4x4xf32>) -> (tensor<4x4xf32>) {
      %2 = graph.transpose %a by [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
      %3 = graph.exp %2 : tensor<4x4xf32>
      graph.yield %3 : tensor<4x4xf32>
    }
    return %1 : tensor<4x4xf32>
  }
}

// -----

// Not where the group reads the same memory by two operands.
// CHECK-LABEL: module
// CHECK: program.matmul {{.*}} to %[[P:.*]] <2 at 0
// CHECK-NEXT: program.launch @{{.*}}(%[[P]], %{{.*}}) writes [1]
module {
  func.func @step(%x: tensor<4x4xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<4x4xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.dot_general %x, %x batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    %r = graph.reverse %0 dim 0 : tensor<4x4xf32>
    %1 = graph.fusion (%a = %0 : tensor<4x4xf32>, %b = %r : tensor<4x4xf32>) -> (tensor<4x4xf32>) {
      %2 = graph.add %a, %b : tensor<4x4xf32>
      graph.yield %2 : tensor<4x4xf32>
    }
    return %1 : tensor<4x4xf32>
  }
}

// -----

// Not a smaller result over a larger operand.
// CHECK-LABEL: module
// CHECK: program.matmul {{.*}} to %[[P:.*]] <2 at 0
// CHECK-NEXT: program.launch @{{.*}}(%[[P]], %{{.*}}) writes [1]
module {
  func.func @step(%x: tensor<4x4xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<4xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.dot_general %x, %x batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    %1 = graph.fusion (%a = %0 : tensor<4x4xf32>) -> (tensor<4xf32>) {
      %2 = graph.reduce sum %a over [1] : tensor<4x4xf32> -> tensor<4xf32>
      graph.yield %2 : tensor<4xf32>
    }
    return %1 : tensor<4xf32>
  }
}

// -----

// Of two results, one is written over the operand and the other gets memory of its own.
// CHECK-LABEL: module
// CHECK: program.matmul {{.*}} to %[[P:.*]] <2 at 0
// CHECK-NEXT: program.launch @{{.*}}(%[[P]], %{{.*}}) writes [0, 1]
module {
  func.func @step(%x: tensor<4x4xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<4x4xf32> {graph.name = "y", graph.role = "output"}, tensor<4x4xf32> {graph.name = "z", graph.role = "output"}) {
    %0 = graph.dot_general %x, %x batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    %1:2 = graph.fusion (%a = %0 : tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
      %2 = graph.exp %a : tensor<4x4xf32>
      %3 = graph.neg %a : tensor<4x4xf32>
      graph.yield %2, %3 : tensor<4x4xf32>, tensor<4x4xf32>
    }
    return %1#0, %1#1 : tensor<4x4xf32>, tensor<4x4xf32>
  }
}

// -----

// A new state is not written over the old one before the last reader of the old one.
// CHECK-LABEL: module
// CHECK: %[[S:.*]] = program.buffer state "s"
// CHECK: program.launch @[[EXP:.*]](%[[S]], %[[N:.*]]) writes [1]
// CHECK-NEXT: program.launch @{{.*}}(%[[S]], %{{.*}}) writes [1]
// CHECK: program.copy %[[N]] to %[[S]]
module {
  func.func @step(%s: tensor<4xf32> {graph.name = "s", graph.role = "state", graph.source = {fill = 0.0 : f64}})
      -> (tensor<4xf32> {graph.name = "s", graph.role = "state", graph.alias = 0 : i64},
          tensor<4xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.fusion (%a = %s : tensor<4xf32>) -> (tensor<4xf32>) {
      %2 = graph.exp %a : tensor<4xf32>
      graph.yield %2 : tensor<4xf32>
    }
    %1 = graph.fusion (%a = %s : tensor<4xf32>) -> (tensor<4xf32>) {
      %2 = graph.neg %a : tensor<4xf32>
      graph.yield %2 : tensor<4xf32>
    }
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// A product that does not read the parameter may replace it directly.
// CHECK-LABEL: module
// CHECK: %[[W:.*]] = program.buffer parameter "w"
// CHECK: program.matmul {{.*}} to %[[W]] <2 at 0
// CHECK-NOT: program.copy
module {
  func.func @step(%x: tensor<4x4xf32> {graph.name = "x", graph.role = "constant"},
                  %w: tensor<4x4xf32> {graph.name = "w", graph.role = "parameter"})
      -> (tensor<4x4xf32> {graph.name = "w", graph.role = "parameter", graph.alias = 1 : i64}) {
    %0 = graph.dot_general %x, %x batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}

// -----

// One that reads it may not.
// CHECK-LABEL: module
// CHECK: %[[W:.*]] = program.buffer parameter "w"
// CHECK: program.matmul {{.*}} to %[[P:.*]] <2 at 0
// CHECK-NEXT: program.copy %[[P]] to %[[W]]
module {
  func.func @step(%w: tensor<4x4xf32> {graph.name = "w", graph.role = "parameter"})
      -> (tensor<4x4xf32> {graph.name = "w", graph.role = "parameter", graph.alias = 0 : i64}) {
    %0 = graph.dot_general %w, %w batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}

// -----

// A state that keeps its value costs nothing.
// CHECK-LABEL: module
// CHECK: program.buffer state "s"
// CHECK-NOT: program.{{copy|launch}}
module {
  func.func @step(%s: tensor<4xf32> {graph.name = "s", graph.role = "state", graph.source = {fill = 0.0 : f64}})
      -> (tensor<4xf32> {graph.name = "s", graph.role = "state", graph.alias = 0 : i64}) {
    return %s : tensor<4xf32>
  }
}
