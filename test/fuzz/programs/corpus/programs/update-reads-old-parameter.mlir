// What the loss says without any input was updated before the last reader of the old value.
// case: train losses=output:o0+mse:o1 optimizer=sgd:lr=1 clip=0 accumulate=1 seed=3 steps=2
// plan: mesh=dp=1
// plan: mesh=dp=2 random=1
module {
  func.func @step(
      %a0: tensor<4xf32> {graph.name = "a0", graph.role = "parameter", graph.source = {data = dense<[0.8, -0.3, 0.1, -0.4]> : tensor<4xf32>}},
      %a1: tensor<4xf32> {graph.name = "a1", graph.role = "parameter", graph.source = {data = dense<[0.5, 1.2, 0.7, 0.9]> : tensor<4xf32>}},
      %a2: tensor<4xf32> {graph.name = "a2", graph.role = "parameter", graph.source = {data = dense<[0.2, 0.4, -0.7, 0.1]> : tensor<4xf32>}},
      %x: tensor<4xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<f32> {graph.name = "o0", graph.role = "output"}, tensor<4xf32> {graph.name = "o1", graph.role = "output"}) {
    %0 = graph.rms_norm %a0, %a1 {epsilon = 1.000000e-02 : f64} : tensor<4xf32>, tensor<4xf32>
    %1 = graph.reduce sum %0 over [0] : tensor<4xf32> -> tensor<f32>
    %2 = graph.mul %a2, %x : tensor<4xf32>
    return %1, %2 : tensor<f32>, tensor<4xf32>
  }
}
