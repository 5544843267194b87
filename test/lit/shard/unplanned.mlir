// Steps that cannot be planned.
// RUN: cleave-opt %s --split-input-file --verify-diagnostics --cleave-shard-plan="mesh=dp=2"

// expected-error @below {{has no function @step}}
module {}

// -----

// expected-error @below {{a plan needs sizes: the tensor 'tensor<?xf32, #graph.dims<["batch"]>>' still has symbolic dims}}
func.func @step(%x: tensor<?xf32, #graph.dims<["batch"]>> {graph.name = "x", graph.role = "input"}) { return }

// -----

module attributes {mesh.mesh = #mesh.mesh<[dp = 2]>} {
  func.func @step(%x: tensor<4xf32> {graph.name = "x", graph.role = "input"})
      -> (tensor<4xf32> {graph.name = "y", graph.role = "output"}) {
    // expected-error @below {{'mesh.all_reduce' op cannot be planned: it has no factor rule}}
    %0 = mesh.all_reduce sum %x over {dp} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
