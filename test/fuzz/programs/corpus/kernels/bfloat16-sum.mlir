// LLVM crashed on the vectors that it made of this.
module {
program.kernel @k22 on 2 operands [#program.view<0 at 0 by[7, 28, 1]>] results [#program.view<1 at 0>] {
^bb0(%arg0: tensor<4x4x4xbf16>):
  %0 = graph.fusion (%arg1 = %arg0 : tensor<4x4x4xbf16>) -> (tensor<bf16>) {
    %1 = graph.reduce  sum %arg1 over [0, 1, 2] : tensor<4x4x4xbf16> -> tensor<bf16>
    graph.yield %1 : tensor<bf16>
  }
}
}
