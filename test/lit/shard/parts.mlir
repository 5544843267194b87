// Copies of a value in the forward, backward and update part of a step: each part has its own.
// RUN: cleave-opt %s --split-input-file --cleave-shard-partition | FileCheck %s

// A parameter that lives split is gathered in the forward part and again in the backward part:
// no whole copy lives in between.
// CHECK-LABEL: func @step
// CHECK-SAME: (%[[W:.*]]: tensor<4xf32> {
// CHECK: %[[F:.*]] = mesh.all_gather %[[W]] dim 0 over {dp} {mesh.part = "forward"}
// CHECK-NEXT: graph.exp %[[F]]
// CHECK: %[[B:.*]] = mesh.all_gather %[[W]] dim 0 over {dp} {mesh.part = "backward"}
// CHECK-NEXT: graph.neg %[[B]]
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%w: tensor<8xf32> {graph.name = "w", graph.role = "parameter", mesh.sharding = #mesh.sharding<[{dp}]>,
                                     mesh.compute = #mesh.sharding<[{}]>})
      -> (tensor<8xf32> {graph.name = "y", graph.role = "output"}, tensor<8xf32> {graph.name = "g", graph.role = "metric"}) {
    %0 = graph.exp %w : tensor<8xf32>
    %1 = graph.neg %w : tensor<8xf32>
    return %0, %1 : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

// The update reads the parameter as it is stored, whatever the layout of use.
// CHECK-LABEL: func @step
// CHECK-SAME: (%[[W:.*]]: tensor<4xf32> {{{.*}}}, %[[G:.*]]: tensor<4xf32> {
// CHECK-NEXT: %[[N:.*]] = graph.sub %[[W]], %[[G]] : tensor<4xf32>
// CHECK-NEXT: return %[[N]]
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%w: tensor<8xf32> {graph.name = "w", graph.role = "parameter", mesh.sharding = #mesh.sharding<[{dp}]>,
                                     mesh.compute = #mesh.sharding<[{}]>},
                  %g: tensor<8xf32> {graph.name = "g", graph.role = "state", graph.parameter = "w",
                                     mesh.sharding = #mesh.sharding<[{dp}]>})
      -> (tensor<8xf32> {graph.name = "w", graph.role = "parameter", graph.alias = 0 : i64}) {
    %0 = graph.sub %w, %g {mesh.strategy = #mesh.strategy<[{dp}], results = [#mesh.sharding<[{dp}]>]>} : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// A reader of the update in a third layout starts from storage, not from the layout of use.
// CHECK-LABEL: func @step
// CHECK-SAME: (%[[W:.*]]: tensor<4x8xf32> {
// CHECK-NEXT: %[[A:.*]] = mesh.all_to_all %[[W]] from 0 to 1 over {dp} {mesh.part = "update"}
// CHECK-NEXT: %[[N:.*]] = graph.neg %[[A]] : tensor<8x4xf32>
// CHECK-NEXT: mesh.all_to_all %[[N]] from 1 to 0 over {dp} {mesh.part = "update"}
// CHECK-NEXT: return
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%w: tensor<8x8xf32> {graph.name = "w", graph.role = "parameter", mesh.sharding = #mesh.sharding<[{dp}, {}]>,
                                       mesh.compute = #mesh.sharding<[{}, {}]>})
      -> (tensor<8x8xf32> {graph.name = "w", graph.role = "parameter", graph.alias = 0 : i64}) {
    %0 = graph.neg %w {mesh.strategy = #mesh.strategy<[{}, {dp}], results = [#mesh.sharding<[{}, {dp}]>]>} : tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}

// -----

// A gradient that the update reads split is reduced and scattered in the backward part.
// CHECK-LABEL: func @step
// CHECK: %[[P:.*]] = graph.reduce sum
// CHECK-NEXT: %[[G:.*]] = mesh.reduce_scatter sum %[[P]] dim 0 over {dp} {mesh.part = "backward"}
// CHECK-NEXT: graph.sub %{{.*}}, %[[G]] : tensor<4xf32>
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<6x8xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{dp}, {}]>},
                  %w: tensor<8xf32> {graph.name = "w", graph.role = "parameter", mesh.sharding = #mesh.sharding<[{dp}]>},
                  %v: tensor<8xf32> {graph.name = "v", graph.role = "parameter", mesh.sharding = #mesh.sharding<[{dp}]>})
      -> (tensor<8xf32> {graph.name = "w", graph.role = "parameter", graph.alias = 1 : i64},
          tensor<8xf32> {graph.name = "v", graph.role = "parameter", graph.alias = 2 : i64}) {
    %0 = graph.reduce sum %x over [0]
      {mesh.strategy = #mesh.strategy<[{dp}, {}], results = [#mesh.sharding<[{dp}]>]>} : tensor<6x8xf32> -> tensor<8xf32>
    %1 = graph.sub %w, %0 {mesh.strategy = #mesh.strategy<[{dp}], results = [#mesh.sharding<[{dp}]>]>} : tensor<8xf32>
    %2 = graph.sub %v, %0 {mesh.strategy = #mesh.strategy<[{dp}], results = [#mesh.sharding<[{dp}]>]>} : tensor<8xf32>
    return %1, %2 : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

// The plan's copy for a part of the step: its readers there begin from it, and other parts from
// where the value lives.
// CHECK-LABEL: func @step
// CHECK: %[[E:.*]] = graph.exp %{{.*}} : tensor<4x8xf32>
// CHECK: %[[C:.*]] = mesh.all_to_all %[[E]] from 0 to 1 over {dp} {mesh.part = "backward"}
// CHECK-NEXT: %[[G:.*]] = mesh.all_gather %[[C]] dim 1 over {dp} {mesh.part = "backward"}
// CHECK-NEXT: graph.neg %[[G]] : tensor<8x8xf32>
// CHECK-NEXT: graph.abs %[[C]] : tensor<8x4xf32>
// CHECK-NOT: mesh.copies
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<8x8xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{dp}, {}]>})
      -> (tensor<8x8xf32> {graph.name = "a", graph.role = "metric"}, tensor<8x8xf32> {graph.name = "b", graph.role = "metric"}) {
    %0 = graph.exp %x {mesh.strategy = #mesh.strategy<[{dp}, {}], results = [#mesh.sharding<[{dp}, {}]>]>,
                       mesh.copies = [{backward = #mesh.sharding<[{}, {dp}]>, forward = #mesh.sharding<[{}, {}]>}]} : tensor<8x8xf32>
    %1 = graph.neg %0 : tensor<8x8xf32>
    %2 = graph.abs %0 {mesh.strategy = #mesh.strategy<[{}, {dp}], results = [#mesh.sharding<[{}, {dp}]>]>} : tensor<8x8xf32>
    return %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
  }
}

// -----

// A reduction knows its bucket.
// CHECK-LABEL: func @step
// CHECK: mesh.all_reduce sum %{{.*}} over {dp} {mesh.bucket = 3 : i64, mesh.part = "forward"}
// CHECK-NOT: mesh.buckets
module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<8x4xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{dp}, {}]>})
      -> (tensor<4xf32> {graph.name = "y", graph.role = "output"}) {
    %0 = graph.reduce sum %x over [0] {mesh.buckets = array<i64: 3>,
        mesh.strategy = #mesh.strategy<[{dp}, {}], results = [#mesh.sharding<[{}]>]>} : tensor<8x4xf32> -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
