// A grouped product on GPUs and the gradients of its rows and weights: ranks have some of the rows and some of the groups, one of which is empty.
// case: train losses=mse:o0 optimizer=sgd:lr=1 clip=0 accumulate=1 seed=7 steps=1 gpu dtype=f32
// plan: mesh=a=2 random=1
// plan: mesh=a=2 random=2
// plan: mesh=a=2 random=3
// plan: mesh=a=2 random=4
// plan: mesh=a=3 random=5
// plan: mesh=a=3 random=6
module {
  func.func @step(%x: tensor<12x4xf32> {graph.high = 1.0 : f64, graph.low = -1.0 : f64, graph.name = "x", graph.role = "input"}, %p: tensor<4x4xf32> {graph.high = 1.0 : f64, graph.low = -1.0 : f64, graph.name = "p", graph.role = "parameter", graph.source = {fill = 0.3 : f64}}, %w: tensor<6x4x6xf32> {graph.high = 1.0 : f64, graph.low = -1.0 : f64, graph.name = "w", graph.role = "parameter", graph.source = {fill = 0.5 : f64}}) -> (tensor<12x6xf32> {graph.name = "o0", graph.role = "output"}) {
    %ends = graph.constant dense<[2, 5, 5, 8, 9, 11]> : tensor<6xi64>
    %z = graph.dot_general %x, %p batch [] x [] contract [1] x [0] : tensor<12x4xf32>, tensor<4x4xf32> -> tensor<12x4xf32>
    %y = graph.grouped_matmul %z, %w, %ends : tensor<12x4xf32>, tensor<6x4x6xf32>, tensor<6xi64> -> tensor<12x6xf32>
    return %y : tensor<12x6xf32>
  }
}
