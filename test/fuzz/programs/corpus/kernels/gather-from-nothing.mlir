// Read a row of a table that has none.
module {
  program.kernel @k on 3 operands [#program.view<0 at 0 by[7, 1]>, #program.view<1 at 0 by[1]>] results [#program.view<2 at 0 by[7, 1]>] {
  ^bb0(%arg0: tensor<0x7xf32>, %arg1: tensor<5xi64>):
    %0 = graph.gather %arg0 at %arg1 dim 0 : tensor<0x7xf32>, tensor<5xi64> -> tensor<5x7xf32>
  }
}
