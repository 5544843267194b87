// The smallest of 64-bit integers over uneven blocks was the smallest integer there is.
// case: optimizer=sgd:lr=1 clip=0 accumulate=1 seed=638 steps=1
// plan: mesh=dp=2 random=95339
// plan: mesh=dp=4 random=49338
module {
  func.func @step(%arg0: tensor<33x2xi64> {graph.high = 9.0 : f64, graph.low = -3.0 : f64, graph.name = "a0", graph.role = "input"})
      -> (tensor<i64> {graph.name = "o0", graph.role = "output"}) {
    %0 = graph.reduce min %arg0 over [0, 1] : tensor<33x2xi64> -> tensor<i64>
    return %0 : tensor<i64>
  }
}
