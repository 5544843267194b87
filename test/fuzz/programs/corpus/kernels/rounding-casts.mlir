// The cast to a shorter float and back was contracted away.
module {
  program.kernel @k on 2 operands [#program.view<0 at 0 by[1]>] results [#program.view<1 at 0 by[1]>] {
  ^bb0(%arg0: tensor<64xf32>):
    %0 = graph.fusion (%arg1 = %arg0 : tensor<64xf32>) -> (tensor<64xf32>) {
      %1 = graph.cast %arg1 : tensor<64xf32> -> tensor<64xf16>
      %2 = graph.cast %1 : tensor<64xf16> -> tensor<64xf32>
      %3 = graph.neg %2 : tensor<64xf32>
      graph.yield %3 : tensor<64xf32>
    }
  }
}
