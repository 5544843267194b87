// The planner and the plan price a product by the type of its factors, and f32 ones at the rate of tf32 if they may multiply so.
// DEFINE: %{compile} = cleave-compile %s --start-from import --cluster h100-node -o %t.plan --dtype
// DEFINE: %{dump} = env COLUMNS=200 cleave-dump %t.plan --program 0
// RUN: %{compile} f32 2>&1 | FileCheck %s --check-prefix=MESH-F32
// RUN: %{dump} | FileCheck %s --check-prefix=F32
// MESH-F32: step {{ *1[0-9]\.[0-9]}} ms
// F32: matmul {{.*}} f32{{.*}} -> {{.*}} f32{{.*}} {{1[0-9]\.[0-9]}} ms

// RUN: %{compile} tf32 2>&1 | FileCheck %s --check-prefix=MESH-TF32
// RUN: %{dump} | FileCheck %s --check-prefix=TF32
// MESH-TF32: step {{ *[23]\.[0-9]+}} ms
// TF32: matmul {{.*}} tf32: {{.*}} f32{{.*}} -> {{.*}} f32{{.*}} {{[23]\.[0-9]+}} ms
// RUN: cleave-dump %t.plan --explain tf32 | FileCheck %s --check-prefix=SAYS-TF32
// SAYS-TF32: 1 instructions round factors of f32 to tf32; priced at 495 TFLOP/s

// On CPUs, --dtype tf32 is f32.
// RUN: %{compile} tf32 --device cpu 2>&1
// RUN: %{dump} | FileCheck %s --check-prefix=CPU --implicit-check-not=tf32:
// RUN: cleave-dump %t.plan --explain tf32 | FileCheck %s --check-prefix=SAYS-CPU
// CPU: matmul
// SAYS-CPU: CPUs multiply factors of f32 in f32

// RUN: %{compile} bf16 2>&1 | FileCheck %s --check-prefix=MESH-BF16
// RUN: %{dump} | FileCheck %s --check-prefix=BF16
// MESH-BF16: step {{ *}}{{2\.[0-9]+}} ms
// BF16: matmul {{.*}} bf16{{.*}} -> {{.*}} bf16{{.*}} {{1\.[0-9]+}} ms
module {
  func.func @step(%x: tensor<8192x8192xf32> {graph.name = "x", graph.role = "input"},
                  %w: tensor<8192x8192xf32> {graph.name = "w", graph.role = "input"})
      -> (tensor<8192x8192xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<8192x8192xf32>, tensor<8192x8192xf32> -> tensor<8192x8192xf32>
    return %0 : tensor<8192x8192xf32>
  }
}
