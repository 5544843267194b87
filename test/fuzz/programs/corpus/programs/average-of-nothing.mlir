// The average of a window that sees nothing of the input was NaN.
// case: optimizer=sgd:lr=1 clip=0 accumulate=1 seed=161 steps=1
// plan: mesh=dp=1
// plan: mesh=dp=2
module {
  func.func @step(%arg0: tensor<3x4x5x1xf32> {graph.name = "a0", graph.role = "input"})
      -> (tensor<3x4x2x1xf32> {graph.name = "o0", graph.role = "output"}) {
    %0 = graph.pool average %arg0 {dilations = array<i64: 1, 2>, kernel = array<i64: 3, 2>, pads_high = array<i64: 1, 1>, pads_low = array<i64: 0, 1>, strides = array<i64: 2, 2>}
       : tensor<3x4x5x1xf32> -> tensor<3x4x2x1xf32>
    return %0 : tensor<3x4x2x1xf32>
  }
}
