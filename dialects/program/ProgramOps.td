// The ops of the program dialect: the plan, what it declares, and instructions.

#ifndef CLEAVE_PROGRAM_OPS
#define CLEAVE_PROGRAM_OPS

include "dialects/program/ProgramBase.td"

class Program_Op<string mnemonic, list<Trait> traits = []> : Op<Program_Dialect, mnemonic, traits>;

def Program_TensorOp : Program_Op<"tensor"> {
  let summary = "A logical tensor that outlives or enters a step, and its layout over the mesh";
  let description = [{
    `dims` has one array of mesh axis indices per dim, major first. `origin` is the attribute form of
    graph::TensorOrigin. Buffers refer to tensors by their position among the plan's tensors. The integers of an
    input with a `vocabulary` are below it, or -100 if it is a `label`.
  }];
  let arguments = (ins StrAttr:$name, Program_RoleAttr:$role, TypeAttr:$type, ArrayAttr:$dims,
                       OptionalAttr<StrAttr>:$parameter, OptionalAttr<AnyAttr>:$origin,
                       OptionalAttr<I64Attr>:$vocabulary, UnitAttr:$label);
  let assemblyFormat = "$role $name $type `split` $dims attr-dict";
}

def Program_KernelOp : Program_Op<"kernel", [Symbol, IsolatedFromAbove, NoTerminator, SingleBlock]> {
  let summary = "A function that is generated: one op on tensors that lie in buffers";
  let description = [{
    The body holds one op. The block's arguments are tensors that `operands` places in the kernel's buffers, the
    op's results go where `results` says. A result may lie where an operand lies: it is then computed in place.
    Kernels of equal text share one function. `extent` is the size of the parallel range; the code
    generator sets it.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$buffers, TypedArrayAttrBase<Program_ViewAttr, "views">:$operands,
                       TypedArrayAttrBase<Program_ViewAttr, "views">:$results, OptionalAttr<I64Attr>:$extent,
                       OptionalAttr<F64Attr>:$flops, OptionalAttr<F64Attr>:$bytes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `on` $buffers `operands` $operands `results` $results (`extent` $extent^)? attr-dict-with-keyword $body
  }];
  let extraClassDeclaration = [{
    // The op that the kernel computes.
    ::mlir::Operation &getComputation() { return getBody().front().front(); }
    ViewAttr getOperandView(unsigned i) { return ::llvm::cast<ViewAttr>(getOperands()[i]); }
    ViewAttr getResultView(unsigned i) { return ::llvm::cast<ViewAttr>(getResults()[i]); }
  }];
  let hasVerifier = 1;
}

def Program_ProgramOp : Program_Op<"program", [NoTerminator, SingleBlock]> {
  let summary = "What one rank does: buffers, segments and the order in which they run";
  let description = "`schedule` is a flat list of pairs (segment, micro-batch slot): one step.";
  let arguments = (ins Program_ArenaAttr:$arena, DenseI64ArrayAttr:$schedule);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$arena `schedule` $schedule attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Program_BufferOp : Program_Op<"buffer"> {
  let summary = "Bytes [offset, offset + bytes) of the arena, in use from instruction `first` to `last`";
  let description = [{
    Instructions are counted over the segments one after the other. `tensor` is the position of the logical tensor
    whose block this is, or -1.
  }];
  let arguments = (ins StrAttr:$name, Program_RoleAttr:$role, TypeAttr:$type, I64Attr:$offset, I64Attr:$bytes,
                       I64Attr:$first, I64Attr:$last, DefaultValuedOptionalAttr<I64Attr, "-1">:$tensor);
  let results = (outs Program_BufferType:$result);
  let assemblyFormat = "$role $name $type `at` $offset `bytes` $bytes `live` $first `to` $last attr-dict";
}

def Program_SegmentOp : Program_Op<"segment", [NoTerminator, SingleBlock, HasParent<"ProgramOp">]> {
  let summary = "Instructions that run as a whole, possibly several times a step";
  let arguments = (ins StrAttr:$name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name attr-dict-with-keyword $body";
}

// Every instruction may carry `source`, the op of the model that it comes from, and `seconds`, its predicted time.
class Program_Instruction<string mnemonic> : Program_Op<mnemonic, [HasParent<"SegmentOp">]>;

def Program_LaunchOp : Program_Instruction<"launch"> {
  let summary = "Runs a kernel on buffers; `written` are the positions of those it writes";
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Program_BufferType>:$buffers,
                       DenseI64ArrayAttr:$written);
  let assemblyFormat = "$kernel `(` $buffers `)` `writes` $written attr-dict";
}

def Program_MatmulOp : Program_Instruction<"matmul"> {
  let summary = "out[batch, m, n] = sum over k of lhs[batch, m, k] * rhs[batch, k, n]";
  let description = [{
    The views have one stride per batch dim, then two for the matrix. Their `buffer` is 0 for lhs, 1 for
    rhs, 2 for out. With `accumulate` the sum is added to what out holds.
  }];
  let arguments = (ins Program_BufferType:$lhs, Program_BufferType:$rhs, Program_BufferType:$out,
                       DenseI64ArrayAttr:$batch, I64Attr:$m, I64Attr:$n, I64Attr:$k, Program_ViewAttr:$lhs_view,
                       Program_ViewAttr:$rhs_view, Program_ViewAttr:$out_view, UnitAttr:$accumulate);
  let assemblyFormat = [{
    $lhs $lhs_view `,` $rhs $rhs_view `to` $out $out_view `batch` $batch `m` $m `n` $n `k` $k attr-dict
  }];
}

def Program_ConvolutionOp : Program_Instruction<"convolution"> {
  let summary = "A convolution or one of its gradients, all three tensors dense";
  let arguments = (ins Program_ConvolutionKindAttr:$kind, Program_BufferType:$input, Program_BufferType:$weight,
                       Program_BufferType:$output, DenseI64ArrayAttr:$input_shape, DenseI64ArrayAttr:$weight_shape,
                       DenseI64ArrayAttr:$output_shape, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$pads_low, DenseI64ArrayAttr:$pads_high, I64Attr:$groups);
  let assemblyFormat = [{
    $kind $input $input_shape `,` $weight $weight_shape `,` $output $output_shape `strides` $strides `dilations`
    $dilations `pads` $pads_low `,` $pads_high `groups` $groups attr-dict
  }];
}

def Program_CollectiveOp : Program_Instruction<"collective"> {
  let summary = "Acts among the ranks that differ only on `axes`; pairs send[i], recv[i] travel together";
  let arguments = (ins Program_CollectiveKindAttr:$kind, DenseI64ArrayAttr:$axes, I64Attr:$reduce,
                       Variadic<Program_BufferType>:$send, Variadic<Program_BufferType>:$recv);
  let assemblyFormat = "$kind `over` $axes `reduce` $reduce `(` $send `)` `to` `(` $recv `)` attr-dict";
  let traits = [SameVariadicOperandSize];
}

def Program_CopyOp : Program_Instruction<"copy"> {
  let summary = "Copies a whole buffer";
  let arguments = (ins Program_BufferType:$from, Program_BufferType:$to);
  let assemblyFormat = "$from `to` $to attr-dict";
}

def Program_FillOp : Program_Instruction<"fill"> {
  let summary = "Sets every element of a buffer";
  let arguments = (ins Program_BufferType:$buffer, F64Attr:$value);
  let assemblyFormat = "$buffer `with` $value attr-dict";
}

def Program_LoadInputOp : Program_Instruction<"load_input"> {
  let summary = "Fills a buffer with this rank's block of the slot's micro-batch";
  let arguments = (ins Program_BufferType:$buffer);
  let assemblyFormat = "$buffer attr-dict";
}

def Program_StoreOutputOp : Program_Instruction<"store_output"> {
  let summary = "Hands out an inference result";
  let arguments = (ins Program_BufferType:$buffer);
  let assemblyFormat = "$buffer attr-dict";
}

def Program_MetricOp : Program_Instruction<"metric"> {
  let summary = "Reports a scalar";
  let arguments = (ins StrAttr:$name, Program_BufferType:$buffer);
  let assemblyFormat = "$name $buffer attr-dict";
}

#endif
