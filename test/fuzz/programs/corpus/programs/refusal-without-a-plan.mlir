// No plan in any memory: the refusal read a plan that did not exist.
// case: train losses=mse:o0+mse:o1 optimizer=sgd:lr=1 clip=0 accumulate=1 seed=384 steps=1 gpu dtype=f16
// plan: mesh=dp=2,tp=2 pin=zero2
// plan: mesh=dp=2 pin=zero2
// plan: mesh=dp=2,tp=2 random=23442
module {
  func.func @step(%arg0: tensor<4x5x5xf32> {graph.high = 2.000000e+00 : f64, graph.low = -2.000000e+00 : f64, graph.name = "a0", graph.role = "input"}, %arg1: tensor<4x5xf32> {graph.high = 5.000000e-01 : f64, graph.low = -5.000000e-01 : f64, graph.name = "a1", graph.role = "parameter", graph.source = {data = dense<[[0.16882509, -0.0771775841, -0.149288684, 0.432812959, 0.393105745], [-0.411963016, -0.221964687, -0.486157119, -0.447512954, 0.303791553], [0.417891383, -0.242125586, -0.027837947, 0.495288223, -0.493752748], [0.362175822, -0.0119936476, -0.0213404987, 0.34112671, -0.435552597]]> : tensor<4x5xf32>}}, %arg2: tensor<4xf32> {graph.high = 1.000000e+00 : f64, graph.low = -1.000000e+00 : f64, graph.name = "a2", graph.role = "parameter", graph.source = {data = dense<[0.390325904, 0.722281634, -0.295072347, 0.200288326]> : tensor<4xf32>}}, %arg3: tensor<5xf32> {graph.high = 5.000000e-01 : f64, graph.low = -5.000000e-01 : f64, graph.name = "a3", graph.role = "state", graph.source = {data = dense<[-0.123676963, -0.239355043, 0.0430748835, -0.477402836, 0.364197344]> : tensor<5xf32>}}, %arg4: tensor<5xf32> {graph.high = 1.500000e+00 : f64, graph.low = 5.000000e-01 : f64, graph.name = "a4", graph.role = "state", graph.source = {data = dense<[0.838668465, 1.25334847, 0.581497431, 0.919254899, 0.806145846]> : tensor<5xf32>}}, %arg5: tensor<5xf32> {graph.high = 1.500000e+00 : f64, graph.low = 5.000000e-01 : f64, graph.name = "a5", graph.role = "parameter", graph.source = {data = dense<[0.920040965, 1.07028329, 1.04990375, 1.32030821, 0.571502626]> : tensor<5xf32>}}, %arg6: tensor<5xf32> {graph.high = 1.000000e+00 : f64, graph.low = -1.000000e+00 : f64, graph.name = "a6", graph.role = "parameter", graph.source = {data = dense<[-0.27969557, -0.113253251, -0.252693176, 0.592644274, 0.282020628]> : tensor<5xf32>}}) -> (tensor<8xf32> {graph.name = "o0", graph.role = "output"}, tensor<8xf32> {graph.name = "o1", graph.role = "output"}) {
    %0 = graph.dot_general %arg0, %arg1 batch [] x [] contract [2] x [1] : tensor<4x5x5xf32>, tensor<4x5xf32> -> tensor<4x5x4xf32>
    %1 = graph.broadcast %arg2 to [2] : tensor<4xf32> -> tensor<4x5x4xf32>
    %2 = graph.add %0, %1 : tensor<4x5x4xf32>
    %result, %new_mean, %new_var = graph.batch_norm %arg1, %arg5, %arg6 running %arg3, %arg4 {epsilon = 1.000000e-02 : f64, momentum = 1.000000e-01 : f64} : tensor<4x5xf32>, tensor<5xf32>
    %3 = graph.pad %arg6 dim 0 low 1 {value = -1.000000e+00 : f64} : tensor<5xf32> -> tensor<8xf32>
    return %3, %3 : tensor<8xf32>, tensor<8xf32>
  }
}
