// case: optimizer=sgd:lr=1 clip=0 accumulate=1 seed=1 steps=1 dtype=f32
// plan: mesh=dp=2 random=1
module {
  func.func @step(%arg0: tensor<2xf32> {graph.high = 2.000000e+00 : f64, graph.low = -2.000000e+00 : f64, graph.name = "a0", graph.role = "input"}, %arg1: tensor<2x0xf32> {graph.high = 5.000000e-01 : f64, graph.low = -5.000000e-01 : f64, graph.name = "a1", graph.role = "parameter", graph.source = {data = dense<> : tensor<2x0xf32>}}, %arg2: tensor<0x2xf32> {graph.high = 5.000000e-01 : f64, graph.low = -5.000000e-01 : f64, graph.name = "a2", graph.role = "parameter", graph.source = {data = dense<> : tensor<0x2xf32>}}, %arg3: tensor<2x2xf32> {graph.high = 5.000000e-01 : f64, graph.low = -5.000000e-01 : f64, graph.name = "a3", graph.role = "parameter", graph.source = {data = dense<[[-7.571100e-02, -0.0679411888], [0.131997496, 0.256727487]]> : tensor<2x2xf32>}}, %arg4: tensor<i64> {graph.high = 2.000000e+00 : f64, graph.low = 0.000000e+00 : f64, graph.name = "a4", graph.role = "input"}, %arg5: tensor<1x1x0x1xf32> {graph.high = 1.000000e+00 : f64, graph.low = -1.000000e+00 : f64, graph.name = "a5", graph.role = "parameter", graph.source = {data = dense<> : tensor<1x1x0x1xf32>}}, %arg6: tensor<1x1x2x1xf32> {graph.high = 1.000000e+00 : f64, graph.low = -1.000000e+00 : f64, graph.name = "a6", graph.role = "parameter", graph.source = {data = dense<[[[[0.0976270064], [0.185689226]]]]> : tensor<1x1x2x1xf32>}}) -> (tensor<f32> {graph.name = "o0", graph.role = "output"}, tensor<1x1x0x1xf32> {graph.name = "o1", graph.role = "output"}) {
    %0 = graph.dot_general %arg0, %arg1 batch [] x [] contract [0] x [0] : tensor<2xf32>, tensor<2x0xf32> -> tensor<0xf32>
    %1 = graph.tanh %0 : tensor<0xf32>
    %2 = graph.dot_general %1, %arg2 batch [] x [] contract [0] x [0] : tensor<0xf32>, tensor<0x2xf32> -> tensor<2xf32>
    %3 = graph.dot_general %2, %arg3 batch [] x [] contract [0] x [0] : tensor<2xf32>, tensor<2x2xf32> -> tensor<2xf32>
    %4 = graph.gather %3 at %arg4 dim 0 : tensor<2xf32>, tensor<i64> -> tensor<f32>
    %result, %lse = graph.attention %arg5, %arg6, %arg6 {scale = 5.000000e-01 : f64} : (tensor<1x1x0x1xf32>, tensor<1x1x2x1xf32>, tensor<1x1x2x1xf32>) -> (tensor<1x1x0x1xf32>, tensor<1x1x0xf32>)
    return %4, %result : tensor<f32>, tensor<1x1x0x1xf32>
  }
}
// plan dp=2: compiling: after phase artifact: the plan is inconsistent: rank 0, segment 'update', instruction 1 (attention ''): it has a size of 0
