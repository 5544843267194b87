// The ops of the program dialect: logical tensors, kernels, the program, and its instructions.

#ifndef CLEAVE_PROGRAM_OPS
#define CLEAVE_PROGRAM_OPS

include "dialects/program/ProgramBase.td"

class Program_Op<string mnemonic, list<Trait> traits = []> : Op<Program_Dialect, mnemonic, traits>;

def Program_TensorOp : Program_Op<"tensor"> {
  let summary = "Logical tensor that enters or outlives a step, and its layout over the mesh";
  let description = [{
    `type` is that of the whole tensor. `dims` has one array of mesh axis indices per dim, major
    first: the axes that split it. `parameter` is the name of the parameter that an optimizer state
    belongs to. `origin` is the attribute form of graph::TensorOrigin. The integers of an input with
    a `vocabulary` are in [lowest, vocabulary) (`lowest` is 0 unless given), or equal `ignored`. An
    input with `all_of` holds the input of that name of all micro-batches of a step, along its first
    dim. A program.buffer refers to a tensor by its index among the program.tensor ops of the
    module.

    ```mlir
    program.tensor input "tokens" tensor<4x8xi64> split [[0], []] {vocabulary = 64 : i64}
    ```
  }];
  let arguments = (ins StrAttr:$name, Program_RoleAttr:$role, TypeAttr:$type, ArrayAttr:$dims,
                       OptionalAttr<StrAttr>:$parameter, OptionalAttr<AnyAttr>:$origin,
                       OptionalAttr<I64Attr>:$vocabulary, OptionalAttr<I64Attr>:$lowest,
                       OptionalAttr<I64Attr>:$ignored, UnitAttr:$label,
                       OptionalAttr<StrAttr>:$all_of);
  let assemblyFormat = "$role $name $type `split` $dims attr-dict";
}

def Program_KernelOp : Program_Op<"kernel", [
    Symbol, IsolatedFromAbove, NoTerminator, SingleBlock]> {
  let summary = "Generated function: one op on views of buffers";
  let description = [{
    The kernel has `buffers` buffers as arguments. Block argument i is the tensor with the view
    `operands[i]`, result i of the op has the view `results[i]`. A result with the view of an
    operand is computed in place. Kernels with the same text share one function. `extent` is the
    size of the parallel range, `grid` of a GPU kernel its blocks, threads and bytes of shared
    memory; both are set by code generation. `flops` and `bytes` (read and written)
    are the cost of the kernel.

    With `instances` n, which only GPUs have, one launch computes the op n times, each time on
    `buffers` / n buffers of its own; the views are those of the first instance, and buffer i of a view
    is buffer k `buffers` / n + i in instance k. No instance reads what another one writes.

    (C1) The body contains exactly one op.
    (C2) There is one view per block argument and per result of the op.
    (C3) The buffer of each view is in [0, `buffers` / `instances`), which is a whole number.
    (C4) The block arguments and the results of the op are tensors of static shape.
    (C5) Each view has one stride per dim of its tensor.
    (C6) The body uses no values defined outside of it.

    ```mlir
    program.kernel @exp on 2 operands [#program.view<0 at 0 by [1]>]
                             results [#program.view<1 at 0 by [1]>] {
    ^bb0(%x: tensor<16xf32>):
      %0 = graph.exp %x : tensor<16xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$buffers,
                       TypedArrayAttrBase<Program_ViewAttr, "views">:$operands,
                       TypedArrayAttrBase<Program_ViewAttr, "views">:$results,
                       OptionalAttr<I64Attr>:$extent,
                       OptionalAttr<DenseI64ArrayAttr>:$grid, OptionalAttr<F64Attr>:$flops,
                       OptionalAttr<F64Attr>:$bytes, OptionalAttr<I64Attr>:$instances);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `on` $buffers (`instances` $instances^)? `operands` $operands `results` $results
    (`extent` $extent^)? (`grid` $grid^)? attr-dict-with-keyword $body
  }];
  let extraClassDeclaration = [{
    // The op that the kernel computes.
    ::mlir::Operation &getComputation() { return getBody().front().front(); }
    ViewAttr getOperandView(unsigned i) { return ::llvm::cast<ViewAttr>(getOperands()[i]); }
    ViewAttr getResultView(unsigned i) { return ::llvm::cast<ViewAttr>(getResults()[i]); }
    int64_t instanceCount() { return static_cast<int64_t>(getInstances().value_or(1)); }
    // The number of buffers of one instance.
    int64_t instanceBuffers() { return static_cast<int64_t>(getBuffers()) / instanceCount(); }
  }];
  let hasVerifier = 1;
}

def Program_ProgramOp : Program_Op<"program", [NoTerminator, SingleBlock]> {
  let summary = "A program and the ranks that run it: arena, buffers, segments and their schedule";
  let description = [{
    `kind` says what it computes, `ranks` which ranks run it, in ascending order; without them, all
    do. `arena` is that of device memory, `host` and `file` those of the other spaces, if buffers are there.
    Without an `arena`, the buffers have no places yet. `schedule` is the order of execution, a
    flat list of pairs: the index of a program.segment, and the slot, the index of the micro-batch.
    Programs of one rank use the same memory: they have the same persistent buffers (parameters,
    states, constants, hyperparameters, coordinates) at the same offsets.

    `no_padding` says why its micro-batches may not be filled up with samples that no label counts.

    (C1) `schedule` has an even number of entries.
    (C2) Each segment of it is the index of a program.segment in the body.
    (C3) Each program.buffer of the body ends within the arena of its space, if it is placed.

    ```mlir
    program.program arena <64 bytes, peak 64> schedule [0, 0, 0, 1] {
      %a = program.buffer input "a" tensor<16xf32> at 0 bytes 64 live 0 to 0
      program.segment "micro" {
        program.load_input %a
      }
    }
    ```
  }];
  let arguments = (ins OptionalAttr<Program_ArenaAttr>:$arena,
                       OptionalAttr<Program_ArenaAttr>:$host,
                       OptionalAttr<Program_ArenaAttr>:$file, DenseI64ArrayAttr:$schedule,
                       DefaultValuedAttr<Program_KindAttr, "::cleave::program::Kind::Step">:$kind,
                       OptionalAttr<DenseI64ArrayAttr>:$ranks,
                       OptionalAttr<StrAttr>:$no_padding);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    (`arena` $arena^)? (`host` $host^)? (`file` $file^)? `schedule` $schedule (`of` $kind^)?
    (`ranks` $ranks^)? attr-dict-with-keyword $body
  }];
  let extraClassDeclaration = [{
    // The arena of a space; null: there is none.
    ArenaAttr arenaIn(::cleave::Space space);
    void setArenaIn(::cleave::Space space, ArenaAttr arena);
  }];
  let hasVerifier = 1;
}

def Program_BufferOp : Program_Op<"buffer"> {
  let summary = "Range of bytes of an arena";
  let description = [{
    Bytes [`offset`, `offset` + `bytes`) of the arena in `space`, for a dense tensor of `type`, this rank's
    block. Outside of device memory only program.copy accesses it. `first` and `last` are the first instruction that accesses the buffer and the last one that
    does or that may run while an access is in flight; the instructions of all segments are numbered
    in order. `tensor` is the index of the program.tensor
    whose block this is, or -1.

    ```mlir
    %a = program.buffer parameter "a" tensor<16xf32> at 0 bytes 64 live 0 to 3 {tensor = 0 : i64}
    ```
  }];
  let arguments = (ins StrAttr:$name, Program_RoleAttr:$role, TypeAttr:$type, I64Attr:$offset,
                       I64Attr:$bytes, I64Attr:$first, I64Attr:$last,
                       DefaultValuedOptionalAttr<I64Attr, "-1">:$tensor,
                       DefaultValuedAttr<Program_SpaceAttr, "::cleave::Space::Device">:$space);
  let results = (outs Program_BufferType:$result);
  let assemblyFormat = [{
    $role $name $type `at` $offset `bytes` $bytes `live` $first `to` $last attr-dict
  }];
}

def Program_SegmentOp : Program_Op<"segment", [NoTerminator, SingleBlock, HasParent<"ProgramOp">]> {
  let summary = "Instructions that run together, once or several times per step";
  let description = [{
    The body is the list of instructions. `name` is for people: "micro" for the segment of a
    micro-batch, "update" for that of the optimizer.

    (C1) The parent op is a program.program.

    ```mlir
    program.program arena <64 bytes, peak 64> schedule [0, 0] {
      %a = program.buffer activation "a" tensor<16xf32> at 0 bytes 64 live 0 to 0
      program.segment "micro" {
        program.fill %a with 0.0
      }
    }
    ```
  }];
  let arguments = (ins StrAttr:$name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name attr-dict-with-keyword $body";
}

// `statement` is the example, on buffers %a, %b and %c of 16 floats each. `constraints` are the
// lines of those after the first.
class Program_Instruction<string mnemonic, string text, string statement, string constraints = "",
                          list<Trait> traits = []>
    : Program_Op<mnemonic, traits # [HasParent<"SegmentOp">]> {
  let description = "\n    " # text # "\n\n    (C1) The parent op is a program.segment.\n" #
    constraints # [{
    ```mlir
    program.program arena <192 bytes, peak 192> schedule [0, 0] {
      %a = program.buffer activation "a" tensor<16xf32> at 0 bytes 64 live 0 to 0
      %b = program.buffer activation "b" tensor<16xf32> at 64 bytes 64 live 0 to 0
      %c = program.buffer activation "c" tensor<16xf32> at 128 bytes 64 live 0 to 0
      program.segment "micro" {
        }] # statement # [{
      }
    }
    ```
  }];
}

def Program_LaunchOp : Program_Instruction<"launch",
    "Runs `kernel` on `buffers`. `written` are the indices of the buffers that it writes. The "
    "check of the phase `program` requires that the kernel exists and fits the buffers.",
    "program.launch @exp(%a, %b) writes [1]", "",
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Run of a kernel";
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Program_BufferType>:$buffers,
                       DenseI64ArrayAttr:$written);
  let assemblyFormat = "$kernel `(` $buffers `)` `writes` $written attr-dict";
}

def Program_MatmulOp : Program_Instruction<"matmul",
    "`out[batch…, m, n] = sum over k of lhs[batch…, m, k] * rhs[batch…, k, n]`; with `accumulate`, "
    "the sum is added to `out`. `batch` are the sizes of the batch dims. The views have one stride "
    "per batch dim and two for the matrix; their `buffer` is 0 for lhs, 1 for rhs, 2 for out. "
    "`bias` begins with one element of the type of `out` per column, which is added to every sum before it is "
    "rounded. `workspace` is memory for the library's algorithm. With `tf32`, factors of type f32 may be rounded "
    "to 10 bits of mantissa.",
    "program.matmul %a <0 at 0 by [4, 1]>, %b <1 at 0 by [1, 4]> to %c <2 at 0 by [4, 1]>\n"
    "          batch [] m 4 n 4 k 4",
    "    (C2) Each view has one stride per batch dim and two for the matrix.\n"
    "    (C3) The views have the buffers 0, 1 and 2.\n"
    "    (C4) With `bias`, the last stride of `out` is 1, unless n is 1.\n", [AttrSizedOperandSegments]> {
  let summary = "Batched matrix product of strided views";
  let arguments = (ins Program_Reads<>:$lhs, Program_Reads<>:$rhs, Program_Writes<>:$out,
                       Program_Reads<Optional<Program_BufferType>>:$bias,
                       Program_Writes<Optional<Program_BufferType>>:$workspace,
                       DenseI64ArrayAttr:$batch, I64Attr:$m, I64Attr:$n, I64Attr:$k,
                       Program_ViewAttr:$lhs_view, Program_ViewAttr:$rhs_view,
                       Program_ViewAttr:$out_view, UnitAttr:$accumulate, UnitAttr:$tf32);
  let assemblyFormat = [{
    $lhs $lhs_view `,` $rhs $rhs_view `to` $out $out_view (`bias` $bias^)?
    (`workspace` $workspace^)? `batch` $batch `m` $m `n` $n `k` $k attr-dict
  }];
  let hasVerifier = 1;
}

def Program_ConvolutionOp : Program_Instruction<"convolution",
    "A graph.conv: `output` from `input` and `weight`. `input_gradient` computes the gradient in "
    "`input` from the gradient in `output` and `weight`, `weight_gradient` the gradient in "
    "`weight` from the gradient in `output` and `input`. All three tensors are dense and row-major; with "
    "`channels_last`, their second dim is the innermost one in memory. `workspace` and `tf32` are those "
    "of program.matmul.",
    "program.convolution forward %a [1, 1, 16], %b [1, 1, 3], %c [1, 1, 14]\n"
    "          strides [1] dilations [1] pads [0], [0] groups 1",
    "    (C2) The three tensors have the same rank, at least 3.\n"
    "    (C3) `strides`, `dilations`, `pads_low` and `pads_high` have one entry per spatial dim.\n",
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Convolution or one of its gradients";
  let arguments = (ins Program_ConvolutionKindAttr:$kind, Program_BufferType:$input,
                       Program_BufferType:$weight, Program_BufferType:$output,
                       Optional<Program_BufferType>:$workspace,
                       DenseI64ArrayAttr:$input_shape, DenseI64ArrayAttr:$weight_shape,
                       DenseI64ArrayAttr:$output_shape, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$pads_low,
                       DenseI64ArrayAttr:$pads_high, I64Attr:$groups, UnitAttr:$channels_last,
                       UnitAttr:$tf32);
  let assemblyFormat = [{
    $kind $input $input_shape `,` $weight $weight_shape `,` $output $output_shape
    (`workspace` $workspace^)?
    `strides` $strides `dilations` $dilations `pads` $pads_low `,` $pads_high `groups` $groups
    attr-dict
  }];
  let hasVerifier = 1;
}

def Program_GroupedMatmulOp : Program_Instruction<"grouped_matmul",
    "A graph.grouped_matmul: `output` [`rows`, `outputs`] from `input` [`rows`, `inputs`] and `weight` "
    "[`groups`, `inputs`, `outputs`]; with `weight_gradient`, the graph.grouped_weight_grad in `weight` "
    "from `input` and the gradient in `output`. The views have one stride per dim; their `buffer` is 0 for "
    "input, 1 for weight, 2 for output. `ends` begins with the ends of `whole_groups` groups among "
    "`whole_rows` rows, which is all of all ranks; `first_row` and `first_group` are i64 scalars.",
    "program.grouped_matmul %a <0 at 0 by [4, 1]>, %b <1 at 0 by [4, 2, 1]>, %c <2 at 0 by [2, 1]>\n"
    "          ends %a rows 3 groups 4 inputs 2 outputs 2 of 3 rows 4 groups",
    "    (C2) The views have one stride per dim and the buffers 0, 1 and 2.\n",
    [AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Products of groups of rows";
  let arguments = (ins Program_BufferType:$input, Program_BufferType:$weight,
                       Program_BufferType:$output, Program_BufferType:$ends,
                       Optional<Program_BufferType>:$first_row,
                       Optional<Program_BufferType>:$first_group, Program_ViewAttr:$input_view,
                       Program_ViewAttr:$weight_view, Program_ViewAttr:$output_view, I64Attr:$rows,
                       I64Attr:$groups, I64Attr:$inputs, I64Attr:$outputs, I64Attr:$whole_rows,
                       I64Attr:$whole_groups, UnitAttr:$weight_gradient);
  let assemblyFormat = [{
    $input $input_view `,` $weight $weight_view `,` $output $output_view `ends` $ends
    (`row` $first_row^)? (`group` $first_group^)? `rows` $rows `groups` $groups `inputs` $inputs
    `outputs` $outputs `of` $whole_rows `rows` $whole_groups `groups` attr-dict
  }];
  let hasVerifier = 1;
}

def Program_AttentionOp : Program_Instruction<"attention",
    "A graph.attention, or with `grad` its graph.attention_grad without a gradient of the bias. "
    "`views` are those of the operands from `query` to `value_grad` that are present, in this "
    "order; they have one stride per batch dim, one of the heads (of the groups for key, value and "
    "their gradients), and one per row and column; `lse` has no columns, and a stride of 0 repeats "
    "elements of `bias` and `mask`. `queries`, `keys`, `width` and `depth` are the sizes of the "
    "matrices. With `mirrored`, another instruction computes the rows at the mirrored place. `seed` "
    "and `offsets` are i64 scalars; `scratch` has attentionScratchBytes(…) bytes; "
    "`workspace` is memory for the library's algorithm.",
    "program.attention %a, %a, %a, %b, %c views [#program.view<0 at 0 by [16, 4, 1]>,\n"
    "          #program.view<1 at 0 by [16, 4, 1]>, #program.view<2 at 0 by [16, 4, 1]>,\n"
    "          #program.view<3 at 0 by [16, 4, 1]>, #program.view<4 at 0 by [4, 1]>]\n"
    "          batch [] heads 1 groups 1 queries 4 keys 4 width 4 depth 4 {scale = 0.5, fill = -1.0e9}",
    "    (C2) There is one view per tensor, of the buffer with its number, with one stride per dim.\n"
    "    (C3) `heads` is a multiple of `groups`, and `width` and `depth` are at most 256.\n"
    "    (C4) `grad` and the three gradients are all present or all absent.\n"
    "    (C5) There are `offset_dims` for all `offsets`.\n",
    [AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Attention or its gradient";
  let arguments = (ins Program_BufferType:$query, Program_BufferType:$key,
                       Program_BufferType:$value, Program_BufferType:$result,
                       Program_BufferType:$lse, Optional<Program_BufferType>:$bias,
                       Optional<Program_BufferType>:$mask, Optional<Program_BufferType>:$grad,
                       Optional<Program_BufferType>:$query_grad,
                       Optional<Program_BufferType>:$key_grad,
                       Optional<Program_BufferType>:$value_grad,
                       Optional<Program_BufferType>:$seed, Variadic<Program_BufferType>:$offsets,
                       Optional<Program_BufferType>:$scratch,
                       Optional<Program_BufferType>:$workspace,
                       TypedArrayAttrBase<Program_ViewAttr, "views">:$views,
                       DenseI64ArrayAttr:$batch, I64Attr:$heads, I64Attr:$groups, I64Attr:$queries,
                       I64Attr:$keys, I64Attr:$width, I64Attr:$depth, F64Attr:$scale,
                       F64Attr:$fill, UnitAttr:$causal, UnitAttr:$safe, UnitAttr:$mirrored,
                       OptionalAttr<F64Attr>:$drop_rate,
                       OptionalAttr<DenseI64ArrayAttr>:$offset_dims,
                       OptionalAttr<DenseI64ArrayAttr>:$whole);
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $result `,` $lse (`bias` $bias^)? (`mask` $mask^)?
    (`grad` $grad^)? (`to` $query_grad^ `,` $key_grad `,` $value_grad)? (`seed` $seed^)?
    (`at` $offsets^)? (`scratch` $scratch^)? (`workspace` $workspace^)? `views` $views `batch` $batch `heads` $heads
    `groups` $groups `queries` $queries `keys` $keys `width` $width `depth` $depth attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    // A tensor of the instruction: its buffer, its view and its shape.
    struct Tensor {
      ::mlir::Value buffer;
      ViewAttr view;
      ::llvm::SmallVector<int64_t> shape;
    };
    // Those that are present, from `query` to `value_grad`.
    ::llvm::SmallVector<Tensor> getTensors();
  }];
}

def Program_CollectiveOp : Program_Instruction<"collective",
    "A collective of the ranks that differ only in their coordinates on `axes`, indices of mesh "
    "axes, the first axis major. Each pair send[i], recv[i] is one tensor; all pairs are exchanged "
    "together. all_reduce and reduce_scatter compute the sum (`reduce` = 0), maximum (1) or "
    "minimum (2). In a permute, the buffers of the rank whose position along `axes` is the position "
    "of this rank along `toAxes` arrive; with `reversed`, that position counted from the last rank.",
    "program.collective all_reduce over [0] reduce 0 (%a, %b) to (%a, %b)",
    "    (C2) `send` and `recv` have the same number of buffers.\n"
    "    (C3) A permute has `toAxes`, the axes of `axes` in any order; others have none, and are "
    "not `reversed`.\n",
    [AttrSizedOperandSegments, Program_Communicates]> {
  let summary = "Collective on buffers";
  let arguments = (ins Program_CollectiveKindAttr:$kind, DenseI64ArrayAttr:$axes,
                       OptionalAttr<DenseI64ArrayAttr>:$toAxes, UnitAttr:$reversed,
                       I64Attr:$reduce,
                       Program_Reads<Variadic<Program_BufferType>>:$send,
                       Program_Writes<Variadic<Program_BufferType>>:$recv);
  let assemblyFormat = [{
    $kind `over` $axes (`to` $toAxes^)? (`reversed` $reversed^)? `reduce` $reduce `(` $send `)` `to`
    `(` $recv `)` attr-dict
  }];
  let hasVerifier = 1;
}

// The buffers of one message between the ranks of two pipeline stages.
class Program_Message<string mnemonic, string meaning>
    : Program_Instruction<mnemonic, meaning, "program." # mnemonic # " over 0 peer 1 (%a, %b)", "",
                          [Program_Communicates]> {
  let assemblyFormat = "`over` $axis `peer` $peer `(` $buffers `)` attr-dict";
}

def Program_SendOp : Program_Message<"send",
    "Sends all `buffers`, as one message, to the rank that differs from this one only in its coordinate on the "
    "mesh axis `axis`, which is `peer` there."> {
  let summary = "Message to the rank of another pipeline stage";
  let arguments = (ins I64Attr:$axis, I64Attr:$peer, Program_Reads<Variadic<Program_BufferType>>:$buffers);
}

def Program_RecvOp : Program_Message<"recv",
    "Receives all `buffers`, which the rank `peer` along the mesh axis `axis` sends as one message."> {
  let summary = "Message from the rank of another pipeline stage";
  let arguments = (ins I64Attr:$axis, I64Attr:$peer, Program_Writes<Variadic<Program_BufferType>>:$buffers);
}

def Program_CopyOp : Program_Instruction<"copy",
    "Copies all bytes of `from` to `to`.", "program.copy %a to %b"> {
  let summary = "Copy of a buffer";
  let arguments = (ins Program_Reads<>:$from, Program_Writes<>:$to);
  let assemblyFormat = "$from `to` $to attr-dict";
}

def Program_FillOp : Program_Instruction<"fill",
    "Sets all elements of `buffer` to `value`.", "program.fill %a with 0.0"> {
  let summary = "Fill of a buffer with a value";
  let arguments = (ins Program_Writes<>:$buffer, F64Attr:$value);
  let assemblyFormat = "$buffer `with` $value attr-dict";
}

def Program_LoadInputOp : Program_Instruction<"load_input",
    "Copies this rank's block of the slot's micro-batch of an input to `buffer`. If it is `early`, it "
    "may run while the step before runs: the buffer is live throughout the step, and nothing else "
    "writes it.",
    "program.load_input %a", "", [Program_HostTransfer]> {
  let summary = "Load of an input";
  let arguments = (ins Program_Writes<>:$buffer, UnitAttr:$early);
  let assemblyFormat = "(`early` $early^)? $buffer attr-dict";
}

def Program_StoreOutputOp : Program_Instruction<"store_output",
    "Returns `buffer`, this rank's block of an inference result, to the caller of the step.",
    "program.store_output %a", "", [Program_HostTransfer, MemoryEffects<[MemWrite]>]> {
  let summary = "Store of an output";
  let arguments = (ins Program_Reads<>:$buffer);
  let assemblyFormat = "$buffer attr-dict";
}

def Program_MetricOp : Program_Instruction<"metric",
    "Reports the scalar in `buffer` as the metric `name`.", "program.metric \"loss\" %a", "",
    [Program_HostTransfer, MemoryEffects<[MemWrite]>]> {
  let summary = "Report of a metric";
  let arguments = (ins StrAttr:$name, Program_Reads<>:$buffer);
  let assemblyFormat = "$name $buffer attr-dict";
}

#endif
