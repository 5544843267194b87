// On GPUs, the column sums of a broadcast scalar lacked an all-reduce: no operand has the rows.
// case: train losses=output:o0 optimizer=sgd:lr=1 clip=0 accumulate=2 seed=262 steps=2 gpu dtype=f16
// plan: mesh=dp=2,tp=2 random=20952
module {
  func.func @step(%arg0: tensor<5x5xf32> {graph.high = 1.000000e+00 : f64, graph.low = -1.000000e+00 : f64, graph.name = "a0", graph.role = "parameter", graph.source = {data = dense<[[0.61418128, 0.0984163731, -0.726633846, 0.66060692, 0.409606069], [-0.134801835, -0.974686861, -0.779392481, -0.318458617, -0.312752068], [-0.592569768, -9.736980e-01, 0.14168717, 0.548017681, 0.0913742408], [0.601169705, 9.721040e-01, -0.588559508, -0.329985291, -0.0265336893], [0.933834552, -0.72652328, 0.579071343, 0.87286663, 0.127009451]]> : tensor<5x5xf32>}}, %arg1: tensor<5xf32> {graph.high = 1.000000e+00 : f64, graph.low = -1.000000e+00 : f64, graph.name = "a1", graph.role = "parameter", graph.source = {data = dense<[0.535209894, 0.831101596, -0.892380297, 0.700340211, -0.489097714]> : tensor<5xf32>}}) -> (tensor<f32> {graph.name = "o0", graph.role = "output"}) {
    %0 = graph.dot_general %arg0, %arg0 batch [] x [] contract [1] x [0] : tensor<5x5xf32>, tensor<5x5xf32> -> tensor<5x5xf32>
    %1 = graph.broadcast %arg1 to [1] : tensor<5xf32> -> tensor<5x5xf32>
    %2 = graph.add %0, %1 : tensor<5x5xf32>
    %3 = graph.reduce  sum %2 over [0, 1] : tensor<5x5xf32> -> tensor<f32>
    %4 = graph.constant dense<4.000000e-02> : tensor<f32>
    %5 = graph.mul %3, %4 : tensor<f32>
    return %5 : tensor<f32>
  }
}
