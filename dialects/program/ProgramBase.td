// The program dialect, its attributes and types.

#ifndef CLEAVE_PROGRAM_BASE
#define CLEAVE_PROGRAM_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Program_Dialect : Dialect {
  let name = "program";
  let cppNamespace = "::cleave::program";
  let summary = "The program of one rank: buffers in an arena, and instructions on them";
  let description = [{
    The last level before the plan file (runtime/artifact/program.proto), with the same terms. The
    module holds the logical tensors, the kernels and the programs that share both. Sizes and offsets of
    buffers are in bytes; strides and offsets within a buffer are in elements. An instruction may
    have the attributes `source`, the name of the op of the model that it implements, `seconds`, its
    predicted time, and on GPUs `queue` and `waits`, as in program.proto. The memory effects of an
    instruction say which buffers it reads and writes. The module's attribute `program.device` is
    the kind of device that the program is for; without it, that is a CPU.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

class Program_Attr<string name, string mnemonic_> : AttrDef<Program_Dialect, name> {
  let mnemonic = mnemonic_;
}

// A value of an enumeration of runtime/base, in text by its name in the table there.
class Program_TableValue<string name> : AttrParameter<"::cleave::" # name, "a " # name> {
  let parser = "::cleave::program::parse" # name # "($_parser)";
  let printer = "$_printer << ::llvm::StringRef(::cleave::name($_self))";
}
class Program_TableAttr<string name, string mnemonic_> : Program_Attr<name, mnemonic_> {
  let parameters = (ins Program_TableValue<name>:$value);
  let assemblyFormat = "$value";
  let returnType = "::cleave::" # name;
  let convertFromStorage = "$_self.getValue()";
  let constBuilderCall =
      "::cleave::program::" # cppClassName # "::get($_builder.getContext(), $0)";
}

def Program_BufferType : TypeDef<Program_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let description = "The result of program.buffer.";
  let summary = "range of bytes in the arena";
}

// An operand that the instruction reads, or writes and may read.
class Program_Reads<TypeConstraint type = Program_BufferType> : Arg<type, "", [MemRead]>;
class Program_Writes<TypeConstraint type = Program_BufferType> : Arg<type, "", [MemWrite]>;

// Facts without a method, documented in Program.h.
class Program_Trait<string name> : NativeOpTrait<name> { let cppNamespace = "::cleave::program"; }
def Program_Communicates : Program_Trait<"Communicates">;
def Program_HostTransfer : Program_Trait<"HostTransfer">;

def Program_ViewAttr : Program_Attr<"View", "view"> {
  let summary = "strided view of a buffer";
  let description = [{
    Element [i…] of the tensor is element `offset + sum of i * stride` of the buffer. `buffer` is an
    index into the list of buffers of a kernel or an instruction. Example:
    `#program.view<0 at 16 by [4, 1]>`.
  }];
  let parameters = (ins "int64_t":$buffer, "int64_t":$offset,
                        OptionalArrayRefParameter<"int64_t">:$strides);
  let assemblyFormat = "`<` $buffer `at` $offset (`by` `[` $strides^ `]`)? `>`";
}

def Program_ArenaAttr : Program_Attr<"Arena", "arena"> {
  let summary = "memory allocated once: its size, and the most bytes live at one time";
  let description = "Example: `#program.arena<192 bytes, peak 128>`.";
  let parameters = (ins "int64_t":$bytes, "int64_t":$peak);
  let assemblyFormat = "`<` $bytes `bytes` `,` `peak` $peak `>`";
}

def Program_RoleAttr : Program_TableAttr<"Role", "role"> {
  let summary = "use of a buffer or tensor (runtime/base/Role.h)";
  let description = "Example: `#program<role input>`.";
}

def Program_SpaceAttr : Program_TableAttr<"Space", "space"> {
  let summary = "where a buffer lies (runtime/base/Space.h)";
  let description = "Example: `#program<space host>`.";
}

def Program_Kind : I32EnumAttr<"Kind", "what a program computes (numbers of program.proto)",
    [I32EnumAttrCase<"Step", 0, "step">, I32EnumAttrCase<"Evaluation", 1, "evaluation">]> {
  let cppNamespace = "::cleave::program";
  let genSpecializedAttr = 0;
}
def Program_KindAttr : EnumAttr<Program_Dialect, Program_Kind, "kind">;

def Program_ConvolutionKind
    : I32EnumAttr<"ConvolutionKind", "convolution or one of its gradients",
    [I32EnumAttrCase<"Forward", 0, "forward">,
     I32EnumAttrCase<"InputGradient", 1, "input_gradient">,
     I32EnumAttrCase<"WeightGradient", 2, "weight_gradient">]> {
  let cppNamespace = "::cleave::program";
  let genSpecializedAttr = 0;
}
def Program_ConvolutionKindAttr
    : EnumAttr<Program_Dialect, Program_ConvolutionKind, "convolution_kind">;

def Program_CollectiveKindAttr
    : Program_TableAttr<"CollectiveKind", "collective_kind"> {
  let summary = "kind of a collective (runtime/base/Collective.h)";
  let description = "Example: `#program<collective_kind all_reduce>`.";
}

#endif
