// Wrote past the end and nowhere else: results of all rows beside sums over the rows.
module {
  program.kernel @k35 on 8 operands [#program.view<0 at 0 by[25, 1, 5]>, #program.view<1 at 0 by[1]>, #program.view<2 at 0 by[1]>, #program.view<3 at 0>, #program.view<4 at 0>, #program.view<5 at 0>] results [#program.view<6 at 0 by[1, 5, 25]>, #program.view<7 at 0 by[1]>] {
  ^bb0(%arg0: tensor<5x5x5xf32>, %arg1: tensor<5xf32>, %arg2: tensor<5xf32>, %arg3: tensor<f32>, %arg4: tensor<f32>, %arg5: tensor<f32>):
    %0:2 = graph.fusion (%arg6 = %arg0 : tensor<5x5x5xf32>, %arg7 = %arg1 : tensor<5xf32>, %arg8 = %arg2 : tensor<5xf32>, %arg9 = %arg3 : tensor<f32>, %arg10 = %arg4 : tensor<f32>, %arg11 = %arg5 : tensor<f32>) -> (tensor<5x5x5xf32>, tensor<5xf32>) {
      %1 = graph.broadcast %arg7 to [0] : tensor<5xf32> -> tensor<5x5x5xf32>
      %2 = graph.min %arg6, %1 : tensor<5x5x5xf32>
      %3 = graph.broadcast %arg9 to [] : tensor<f32> -> tensor<5xf32>
      %4 = graph.sub %arg8, %3 : tensor<5xf32>
      %5 = graph.exp %4 : tensor<5xf32>
      %6 = graph.constant dense<5.000000e-01> : tensor<f32>
      %7 = graph.add %arg10, %6 : tensor<f32>
      %8 = graph.broadcast %7 to [] : tensor<f32> -> tensor<5xf32>
      %9 = graph.div %5, %8 : tensor<5xf32>
      %10 = graph.reduce  max %2 over [1, 2] : tensor<5x5x5xf32> -> tensor<5xf32>
      %11 = graph.compare  gt %10, %9 : tensor<5xf32>
      %12 = graph.compare  lt %9, %10 : tensor<5xf32>
      %13 = graph.and %11, %12 : tensor<5xi1>
      %14 = graph.select %13, %10, %4 : tensor<5xi1>, tensor<5xf32>
      %15 = graph.broadcast %arg11 to [] : tensor<f32> -> tensor<5xf32>
      %16 = graph.sub %14, %15 : tensor<5xf32>
      graph.yield %2, %16 : tensor<5x5x5xf32>, tensor<5xf32>
    }
  }
}
