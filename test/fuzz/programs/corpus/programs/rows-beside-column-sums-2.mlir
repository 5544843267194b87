// The smallest step that had wrong gradients (batch 2) or ended the compiler (batch 4): a sum over rows beside its rows.
// case: train losses=mse:y+mse:u+mse:v optimizer=sgd:lr=1 clip=0 accumulate=1 seed=3 steps=1
// plan: mesh=dp=1
// plan: mesh=dp=2
module {
  func.func @step(
      %x: tensor<2x5xf32> {graph.name = "x", graph.role = "input"},
      %w: tensor<5x6xf32> {graph.name = "w", graph.role = "parameter", graph.source = {data = dense<[[-0.731, 0.695, 0.528, -0.490, -0.009, -0.101], [0.303, 0.577, -0.812, -0.943, 0.672, -0.134], [0.525, -0.996, -0.109, 0.443, -0.542, 0.891], [0.803, -0.939, -0.949, 0.083, 0.878, -0.238], [-0.567, -0.156, -0.942, -0.557, -0.124, -0.008]]> : tensor<5x6xf32>}},
      %b: tensor<6xf32> {graph.name = "b", graph.role = "parameter", graph.source = {data = dense<[-0.534, -0.538, -0.562, -0.081, -0.420, -0.957]> : tensor<6xf32>}},
      %g: tensor<6xf32> {graph.name = "g", graph.role = "parameter", graph.source = {data = dense<[0.675, 0.113, 0.285, -0.628, 0.985, 0.720]> : tensor<6xf32>}},
      %a0: tensor<6x3xf32> {graph.name = "a0", graph.role = "parameter", graph.source = {data = dense<[[-0.758, -0.335, 0.443], [0.422, 0.873, -0.156], [0.660, 0.341, -0.393], [0.175, 0.765, 0.692], [0.011, 0.178, -0.931], [-0.515, 0.595, -0.171]]> : tensor<6x3xf32>}},
      %a1: tensor<6x3xf32> {graph.name = "a1", graph.role = "parameter", graph.source = {data = dense<[[-0.654, 0.098, 0.406], [0.349, -0.251, -0.122], [0.017, 0.557, 0.042], [-0.213, -0.021, -0.941], [-0.913, 0.407, 0.966], [0.186, -0.213, -0.659]]> : tensor<6x3xf32>}})
      -> (tensor<2x6xf32> {graph.name = "y", graph.role = "output"}, tensor<2x3xf32> {graph.name = "u", graph.role = "output"},
          tensor<2x3xf32> {graph.name = "v", graph.role = "output"}) {
    %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<2x5xf32>, tensor<5x6xf32> -> tensor<2x6xf32>
    %1 = graph.broadcast %b to [1] : tensor<6xf32> -> tensor<2x6xf32>
    %y = graph.add %0, %1 : tensor<2x6xf32>
    %2 = graph.transpose %y by [1, 0] : tensor<2x6xf32> -> tensor<6x2xf32>
    %3 = graph.broadcast %g to [0] : tensor<6xf32> -> tensor<6x2xf32>
    %4 = graph.mul %2, %3 : tensor<6x2xf32>
    %z = graph.transpose %4 by [1, 0] : tensor<6x2xf32> -> tensor<2x6xf32>
    %u = graph.dot_general %z, %a0 batch [] x [] contract [1] x [0] : tensor<2x6xf32>, tensor<6x3xf32> -> tensor<2x3xf32>
    %v = graph.dot_general %z, %a1 batch [] x [] contract [1] x [0] : tensor<2x6xf32>, tensor<6x3xf32> -> tensor<2x3xf32>
    return %y, %u, %v : tensor<2x6xf32>, tensor<2x3xf32>, tensor<2x3xf32>
  }
}
