// The smallest step that had wrong gradients (batch 2) or ended the compiler (batch 4): a sum over rows beside its rows.
// case: train losses=mse:y+mse:u+mse:v optimizer=sgd:lr=1 clip=0 accumulate=1 seed=3 steps=1
// plan: mesh=dp=1
// plan: mesh=dp=2
module {
  func.func @step(
      %x: tensor<4x5xf32> {graph.name = "x", graph.role = "input"},
      %w: tensor<5x6xf32> {graph.name = "w", graph.role = "parameter", graph.source = {data = dense<[[0.004, 0.964, 0.541, 0.079, 0.721, -0.536], [0.028, 0.905, 0.156, -0.082, -0.461, 0.096], [0.914, -0.989, 0.567, 0.641, 0.772, 0.481], [0.618, 0.037, 0.123, -0.148, -0.888, 0.740], [0.140, -0.600, 0.009, -0.030, -0.286, -0.308]]> : tensor<5x6xf32>}},
      %b: tensor<6xf32> {graph.name = "b", graph.role = "parameter", graph.source = {data = dense<[0.077, 0.247, 0.225, -0.084, -0.944, -0.541]> : tensor<6xf32>}},
      %g: tensor<6xf32> {graph.name = "g", graph.role = "parameter", graph.source = {data = dense<[-0.646, 0.169, 0.722, 0.597, 0.594, 0.633]> : tensor<6xf32>}},
      %a0: tensor<6x3xf32> {graph.name = "a0", graph.role = "parameter", graph.source = {data = dense<[[-0.489, 0.683, 0.346], [-0.834, -0.967, -0.971], [0.511, -0.501, -0.781], [0.250, -0.311, -0.861], [-0.681, 0.055, -0.664], [-0.454, 0.423, -0.091]]> : tensor<6x3xf32>}},
      %a1: tensor<6x3xf32> {graph.name = "a1", graph.role = "parameter", graph.source = {data = dense<[[-0.356, -0.052, -0.953], [-0.227, -0.158, -0.624], [-0.782, 0.800, 0.020], [-0.582, 0.211, 0.634], [-0.958, -0.964, -0.707], [0.438, -0.680, 0.409]]> : tensor<6x3xf32>}})
      -> (tensor<4x6xf32> {graph.name = "y", graph.role = "output"}, tensor<4x3xf32> {graph.name = "u", graph.role = "output"},
          tensor<4x3xf32> {graph.name = "v", graph.role = "output"}) {
    %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<4x5xf32>, tensor<5x6xf32> -> tensor<4x6xf32>
    %1 = graph.broadcast %b to [1] : tensor<6xf32> -> tensor<4x6xf32>
    %y = graph.add %0, %1 : tensor<4x6xf32>
    %2 = graph.transpose %y by [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
    %3 = graph.broadcast %g to [0] : tensor<6xf32> -> tensor<6x4xf32>
    %4 = graph.mul %2, %3 : tensor<6x4xf32>
    %z = graph.transpose %4 by [1, 0] : tensor<6x4xf32> -> tensor<4x6xf32>
    %u = graph.dot_general %z, %a0 batch [] x [] contract [1] x [0] : tensor<4x6xf32>, tensor<6x3xf32> -> tensor<4x3xf32>
    %v = graph.dot_general %z, %a1 batch [] x [] contract [1] x [0] : tensor<4x6xf32>, tensor<6x3xf32> -> tensor<4x3xf32>
    return %y, %u, %v : tensor<4x6xf32>, tensor<4x3xf32>, tensor<4x3xf32>
  }
}
