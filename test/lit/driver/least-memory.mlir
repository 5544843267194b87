// The least memory is a budget in which the compilation itself finds a plan, although the search for
// it ends at the first one. In this model (a random module) the two once disagreed.
// RUN: cleave-compile %s --start-from import --cluster %S/../../docs/local-cpu.json --ranks 2 --train --loss output:0 --optimizer sgd:lr=0.5 --memory least -o %t.plan 2>&1 | FileCheck %s
// CHECK: memory: --memory [[#]] is the least in which a plan was found; 1 % less was refused

#loc = loc("m":0:0)
module attributes {} {
  func.func @step(
    %arg0: tensor<6x3x4xf32> {graph.name = "x", graph.role = "input"} loc("m":0:0),
    %arg1: tensor<3x4xf32> {
      graph.name = "p1",
      graph.role = "parameter",
      graph.source = {fill = 0.5 : f64}
    } loc("m":0:0),
    %arg2: tensor<4x4xf32> {
      graph.name = "m1.weight",
      graph.role = "parameter",
      graph.source = {fill = 0.5 : f64}
    } loc("m":0:0),
    %arg3: tensor<3xf32> {
      graph.name = "m2.weight",
      graph.role = "parameter",
      graph.source = {fill = 0.5 : f64}
    } loc("m":0:0),
    %arg4: tensor<3xf32> {
      graph.name = "m2.bias",
      graph.role = "parameter",
      graph.source = {fill = 0.5 : f64}
    } loc("m":0:0),
    %arg5: tensor<5x4xf32> {
      graph.name = "m5.weight",
      graph.role = "parameter",
      graph.source = {fill = 0.5 : f64}
    } loc("m":0:0),
    %arg6: tensor<3xf32> {
      graph.name = "m2.running_mean",
      graph.per_micro_batch,
      graph.role = "state",
      graph.source = {fill = 0.5 : f64}
    } loc("m":0:0),
    %arg7: tensor<3xf32> {
      graph.name = "m2.running_var",
      graph.per_micro_batch,
      graph.role = "state",
      graph.source = {fill = 0.5 : f64}
    } loc("m":0:0),
    %arg8: tensor<i64> {
      graph.name = "m2.num_batches_tracked",
      graph.per_micro_batch,
      graph.role = "state",
      graph.source = {fill = 0.5 : f64}
    } loc("m":0:0)
  ) -> (
    tensor<f32> {graph.name = "0", graph.role = "output"},
    tensor<3xf32> {graph.alias = 6 : i64, graph.name = "m2.running_mean", graph.role = "state"},
    tensor<3xf32> {graph.alias = 7 : i64, graph.name = "m2.running_var", graph.role = "state"},
    tensor<i64> {graph.alias = 8 : i64, graph.name = "m2.num_batches_tracked", graph.role = "state"}
  ) {
    %0 = graph.dot_general %arg0, %arg2 batch [] x [] contract [2] x [1] : tensor<6x3x4xf32>, tensor<4x4xf32> -> tensor<6x3x4xf32> loc(#loc26)
    %1 = graph.constant dense<1> : tensor<1xi64> loc(#loc27)
    %2 = graph.reshape %1 : tensor<1xi64> -> tensor<i64> loc(#loc27)
    %3 = graph.add %arg8, %2 : tensor<i64> loc(#loc27)
    %result, %new_mean, %new_var = graph.batch_norm %0, %arg3, %arg4 running %arg6, %arg7 {
      epsilon = 1.000000e-05 : f64,
      momentum = 5.000000e-01 : f64
    } : tensor<6x3x4xf32>, tensor<3xf32> loc(#loc28)
    %4 = graph.stop_gradient %new_mean : tensor<3xf32> loc(#loc28)
    %5 = graph.stop_gradient %new_var : tensor<3xf32> loc(#loc28)
    %6 = graph.softmax %arg0 dim 2 : tensor<6x3x4xf32> loc(#loc29)
    %7 = graph.broadcast %arg1 to [1, 2] : tensor<3x4xf32> -> tensor<6x3x4xf32> loc(#loc4)
    %8 = graph.mul %6, %7 : tensor<6x3x4xf32> loc(#loc4)
    %9 = graph.dot_general %0, %arg5 batch [] x [] contract [2] x [1] : tensor<6x3x4xf32>, tensor<5x4xf32> -> tensor<6x3x5xf32> loc(#loc30)
    %10 = graph.softmax %9 dim 2 : tensor<6x3x5xf32> loc(#loc31)
    %11 = graph.reduce  sum %0 over [0, 1, 2] : tensor<6x3x4xf32> -> tensor<f32> loc(#loc26)
    %12 = graph.constant dense<8> : tensor<1xi64> loc(#loc7)
    %13 = graph.reshape %12 : tensor<1xi64> -> tensor<i64> loc(#loc7)
    %14 = graph.cast %13 : tensor<i64> -> tensor<f32> loc(#loc7)
    %15 = graph.div %11, %14 : tensor<f32> loc(#loc7)
    %16 = graph.constant dense<1> : tensor<1xi64> loc(#loc8)
    %17 = graph.reshape %16 : tensor<1xi64> -> tensor<i64> loc(#loc8)
    %18 = graph.cast %17 : tensor<i64> -> tensor<f32> loc(#loc8)
    %19 = graph.broadcast %18 to [] : tensor<f32> -> tensor<6x3x4xf32> loc(#loc8)
    %20 = graph.sub %result, %19 : tensor<6x3x4xf32> loc(#loc8)
    %21 = graph.mul %20, %20 : tensor<6x3x4xf32> loc(#loc9)
    %22 = graph.reduce  sum %21 over [0, 1, 2] : tensor<6x3x4xf32> -> tensor<f32> loc(#loc9)
    %23 = graph.constant dense<0.013888889> : tensor<f32> loc(#loc9)
    %24 = graph.mul %22, %23 : tensor<f32> loc(#loc9)
    %25 = graph.add %15, %24 : tensor<f32> loc(#loc10)
    %26 = graph.abs %result : tensor<6x3x4xf32> loc(#loc11)
    %27 = graph.reduce  sum %26 over [0, 1, 2] : tensor<6x3x4xf32> -> tensor<f32> loc(#loc11)
    %28 = graph.constant dense<0.013888889> : tensor<f32> loc(#loc11)
    %29 = graph.mul %27, %28 : tensor<f32> loc(#loc11)
    %30 = graph.add %25, %29 : tensor<f32> loc(#loc12)
    %31 = graph.abs %6 : tensor<6x3x4xf32> loc(#loc13)
    %32 = graph.reduce  sum %31 over [0, 1, 2] : tensor<6x3x4xf32> -> tensor<f32> loc(#loc13)
    %33 = graph.constant dense<0.013888889> : tensor<f32> loc(#loc13)
    %34 = graph.mul %32, %33 : tensor<f32> loc(#loc13)
    %35 = graph.add %30, %34 : tensor<f32> loc(#loc14)
    %36 = graph.reduce  sum %8 over [0, 1, 2] : tensor<6x3x4xf32> -> tensor<f32> loc(#loc4)
    %37 = graph.constant dense<8> : tensor<1xi64> loc(#loc15)
    %38 = graph.reshape %37 : tensor<1xi64> -> tensor<i64> loc(#loc15)
    %39 = graph.cast %38 : tensor<i64> -> tensor<f32> loc(#loc15)
    %40 = graph.div %36, %39 : tensor<f32> loc(#loc15)
    %41 = graph.add %35, %40 : tensor<f32> loc(#loc16)
    %42 = graph.mul %9, %9 : tensor<6x3x5xf32> loc(#loc17)
    %43 = graph.reduce  sum %42 over [0, 1, 2] : tensor<6x3x5xf32> -> tensor<f32> loc(#loc17)
    %44 = graph.constant dense<0.0111111114> : tensor<f32> loc(#loc17)
    %45 = graph.mul %43, %44 : tensor<f32> loc(#loc17)
    %46 = graph.add %41, %45 : tensor<f32> loc(#loc18)
    %47 = graph.constant dense<1> : tensor<1xi64> loc(#loc19)
    %48 = graph.reshape %47 : tensor<1xi64> -> tensor<i64> loc(#loc19)
    %49 = graph.cast %48 : tensor<i64> -> tensor<f32> loc(#loc19)
    %50 = graph.broadcast %49 to [] : tensor<f32> -> tensor<6x3x5xf32> loc(#loc19)
    %51 = graph.sub %10, %50 : tensor<6x3x5xf32> loc(#loc19)
    %52 = graph.mul %51, %51 : tensor<6x3x5xf32> loc(#loc20)
    %53 = graph.reduce  sum %52 over [0, 1, 2] : tensor<6x3x5xf32> -> tensor<f32> loc(#loc20)
    %54 = graph.constant dense<0.0111111114> : tensor<f32> loc(#loc20)
    %55 = graph.mul %53, %54 : tensor<f32> loc(#loc20)
    %56 = graph.add %46, %55 : tensor<f32> loc(#loc21)
    %57 = graph.mul %6, %6 : tensor<6x3x4xf32> loc(#loc22)
    %58 = graph.reduce  sum %57 over [0, 1, 2] : tensor<6x3x4xf32> -> tensor<f32> loc(#loc22)
    %59 = graph.constant dense<0.013888889> : tensor<f32> loc(#loc22)
    %60 = graph.mul %58, %59 : tensor<f32> loc(#loc22)
    %61 = graph.add %56, %60 : tensor<f32> loc(#loc23)
    %62 = graph.mul %8, %8 : tensor<6x3x4xf32> loc(#loc24)
    %63 = graph.reduce  sum %62 over [0, 1, 2] : tensor<6x3x4xf32> -> tensor<f32> loc(#loc24)
    %64 = graph.constant dense<0.013888889> : tensor<f32> loc(#loc24)
    %65 = graph.mul %63, %64 : tensor<f32> loc(#loc24)
    %66 = graph.add %61, %65 : tensor<f32> loc(#loc25)
    return %66, %4, %5, %3 : tensor<f32>, tensor<3xf32>, tensor<3xf32>, tensor<i64> loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc1 = loc("m1")
#loc2 = loc("m2")
#loc3 = loc("m3")
#loc4 = loc("mul")
#loc5 = loc("m5")
#loc6 = loc("m6")
#loc7 = loc("div")
#loc8 = loc("sub")
#loc9 = loc("square")
#loc10 = loc("add")
#loc11 = loc("abs_1")
#loc12 = loc("add_1")
#loc13 = loc("abs_2")
#loc14 = loc("add_2")
#loc15 = loc("div_1")
#loc16 = loc("add_3")
#loc17 = loc("square_1")
#loc18 = loc("add_4")
#loc19 = loc("sub_1")
#loc20 = loc("square_2")
#loc21 = loc("add_5")
#loc22 = loc("square_3")
#loc23 = loc("add_6")
#loc24 = loc("square_4")
#loc25 = loc("add_7")
#loc26 = loc("m1/linear"(#loc1))
#loc27 = loc("m2/add_"(#loc2))
#loc28 = loc("m2/batch_norm"(#loc2))
#loc29 = loc("m3/softmax"(#loc3))
#loc30 = loc("m5/linear_1"(#loc5))
#loc31 = loc("m6/softmax_1"(#loc6))

