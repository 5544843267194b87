// Contraction: products summed over shared dims: dot_general, convolutions, and pooling with its gradients.

#ifndef CLEAVE_GRAPH_CONTRACTION
#define CLEAVE_GRAPH_CONTRACTION

include "dialects/graph/GraphBase.td"

def Graph_DotGeneralOp : Graph_PrimitiveOp<"dot_general", [InferTypeOpAdaptor]> {
  let summary = "Sum of products over contracting dims, for every index of the batch dims";
  let description = [{
    The result's dims are the batch dims in the order of `lhs_batch`, the other dims of lhs, the other dims of rhs.
    The i-th entries of the batch lists (contracting lists) have equal sizes.
  }];
  let arguments = (ins Graph_Tensor:$lhs, Graph_Tensor:$rhs, DenseI64ArrayAttr:$lhs_batch,
                       DenseI64ArrayAttr:$rhs_batch, DenseI64ArrayAttr:$lhs_contracting,
                       DenseI64ArrayAttr:$rhs_contracting);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `batch` $lhs_batch `x` $rhs_batch `contract` $lhs_contracting `x` $rhs_contracting
    attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
  let hasVerifier = 1;
}

// What all convolutions share. Layouts: data N C spatial…, weights O I spatial… with I = in channels / groups.
class Graph_ConvLikeOp<string mnemonic, list<Trait> traits = []> : Graph_PrimitiveOp<mnemonic, traits> {
  dag window = (ins DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$pads_low,
                    DenseI64ArrayAttr:$pads_high, I64Attr:$groups);
  let results = (outs Graph_FloatTensor:$result);
}

def Graph_ConvOp : Graph_ConvLikeOp<"conv", [InferTypeOpAdaptor]> {
  let summary = "Cross-correlation, as all frameworks mean by convolution";
  let arguments = !con((ins Graph_FloatTensor:$input, Graph_FloatTensor:$weight), window);
  let assemblyFormat =
    "$input `,` $weight attr-dict `:` type($input) `,` type($weight) `->` type($result)";
  let hasVerifier = 1;
}

def Graph_ConvInputGradOp : Graph_ConvLikeOp<"conv_input_grad"> {
  let summary = "Gradient of conv by its input, from the gradient of its result";
  let arguments = !con((ins Graph_FloatTensor:$grad, Graph_FloatTensor:$weight), window);
  let assemblyFormat =
    "$grad `,` $weight attr-dict `:` type($grad) `,` type($weight) `->` type($result)";
}

def Graph_ConvWeightGradOp : Graph_ConvLikeOp<"conv_weight_grad"> {
  let summary = "Gradient of conv by its weight, from the gradient of its result";
  let arguments = !con((ins Graph_FloatTensor:$grad, Graph_FloatTensor:$input), window);
  let assemblyFormat =
    "$grad `,` $input attr-dict `:` type($grad) `,` type($input) `->` type($result)";
}

def Graph_PoolKind : I32EnumAttr<"PoolKind", "how a window is summarised",
    [I32EnumAttrCase<"Max", 0, "max">, I32EnumAttrCase<"Average", 1, "average">]> {
  let cppNamespace = "::cleave::graph";
  let genSpecializedAttr = 0;
}
def Graph_PoolKindAttr : EnumAttr<Graph_Dialect, Graph_PoolKind, "pool_kind">;

class Graph_PoolLikeOp<string mnemonic, list<Trait> traits = []> : Graph_PrimitiveOp<mnemonic, traits> {
  dag window = (ins Graph_PoolKindAttr:$kind, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                    DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$pads_low, DenseI64ArrayAttr:$pads_high,
                    UnitAttr:$count_padding);
  let results = (outs Graph_FloatTensor:$result);
}

def Graph_PoolOp : Graph_PoolLikeOp<"pool", [InferTypeOpAdaptor]> {
  let summary = "Maximum or average over windows of the spatial dims of N C spatial…";
  let description = [{
    Padding never wins a maximum; an average divides by the window's elements inside the input, or with `count_padding`
    by all elements of the kernel that lie inside the padded input.
  }];
  let arguments = !con((ins Graph_FloatTensor:$input), window);
  let assemblyFormat = "$kind $input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Graph_PoolGradOp : Graph_PoolLikeOp<"pool_grad"> {
  let summary = "Gradient of pool by its input";
  let description = "A maximum's gradient goes to the first largest element of the window in row-major order.";
  let arguments = !con((ins Graph_FloatTensor:$grad, Graph_FloatTensor:$input), window);
  let assemblyFormat = "$kind $grad `,` $input attr-dict `:` type($grad) `,` type($input) `->` type($result)";
}

#endif
