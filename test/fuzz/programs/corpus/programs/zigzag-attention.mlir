// A causal attention in zigzag on 2, 3 and 4 ranks, with grouped heads, a bias that is repeated, and dropout.
// case: train losses=mse:o0 optimizer=momentum:lr=0.1 clip=0 accumulate=1 seed=7 steps=2 dtype=f32
// plan: mesh=a=2 random=1
// plan: mesh=a=2 random=2
// plan: mesh=a=2 random=3
// plan: mesh=a=2 random=4
// plan: mesh=a=2 random=5
// plan: mesh=a=2 random=6
// plan: mesh=a=3 random=1
// plan: mesh=a=3 random=2
// plan: mesh=a=3 random=3
// plan: mesh=a=3 random=4
// plan: mesh=a=3 random=5
// plan: mesh=a=3 random=6
// plan: mesh=a=2,b=2 random=1
// plan: mesh=a=2,b=2 random=2
// plan: mesh=a=2,b=2 random=3
// plan: mesh=a=2,b=2 random=4
// plan: mesh=a=2,b=2 random=5
// plan: mesh=a=2,b=2 random=6
// plan: mesh=a=4 random=1
// plan: mesh=a=4 random=2
// plan: mesh=a=4 random=3
// plan: mesh=a=4 random=4
// plan: mesh=a=4 random=5
// plan: mesh=a=4 random=6
module {
  func.func @step(%q: tensor<2x2x24x3xf32> {graph.high = 1.0 : f64, graph.low = -1.0 : f64, graph.name = "q", graph.role = "input"}, %k: tensor<2x1x24x3xf32> {graph.high = 1.0 : f64, graph.low = -1.0 : f64, graph.name = "k", graph.role = "input"}, %b: tensor<1x2x24x1xf32> {graph.high = 1.0 : f64, graph.low = -1.0 : f64, graph.name = "b", graph.role = "input"}, %w: tensor<2x1x24x3xf32> {graph.high = 1.0 : f64, graph.low = -1.0 : f64, graph.name = "w", graph.role = "parameter", graph.source = {fill = 0.3 : f64}}) -> (tensor<2x2x24x3xf32> {graph.name = "o0", graph.role = "output"}) {
    %v = graph.mul %k, %w : tensor<2x1x24x3xf32>
    %x = graph.exp %v : tensor<2x1x24x3xf32>
    %y, %lse = graph.attention %q, %x, %x bias %b {causal, dropout = 2.5e-01 : f64, scale = 5.0e-01 : f64} : (tensor<2x2x24x3xf32>, tensor<2x1x24x3xf32>, tensor<2x1x24x3xf32>, tensor<1x2x24x1xf32>) -> (tensor<2x2x24x3xf32>, tensor<2x2x24xf32>)
    return %y : tensor<2x2x24x3xf32>
  }
}
