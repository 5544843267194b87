"""Allowed includes between folders (docs/architecture.md), no cycles, DEPS equal to the include edges, and a runtime-only
build that has what it links."""

import os
import re

PLAIN_COMPILER = ("compiler/cluster/", "compiler/cost/", "compiler/schedule/", "compiler/solver/")
PLAIN_HEADERS = tuple(f"dialects/interfaces/{n}.h" for n in ("Polynomial", "Sharding", "FactorRule"))
MLIR = ("mlir/", "llvm/", "mlir-c/", "llvm-c/")
IR = ("dialects/graph/", "dialects/mesh/", "dialects/program/")

# (includer, forbidden, exceptions, the rule in words)
WALLS = [
    (("runtime/",), MLIR + ("compiler/", "dialects/", "passes/"), (),
     "the runtime uses neither MLIR nor the compiler"),
    (("dialects/",), ("compiler/", "passes/"), (), "dialects hold IR only"),
    (("dialects/",), ("runtime/",), ("runtime/base/",), "dialects use only the base of the runtime"),
    (("compiler/",), ("passes/",), (), "passes use the compiler's libraries, not the reverse"),
    (("runtime/", "dialects/", "compiler/", "passes/"), ("tools/",), (), "nothing depends on tools"),
    (PLAIN_COMPILER, MLIR + ("passes/",), (), "the planner's algorithms are plain C++"),
    (PLAIN_COMPILER, ("dialects/",), PLAIN_HEADERS, "they use only the plain headers of the dialects"),
    (("compiler/planner/",), MLIR + IR, ("compiler/planner/model/ReadStep.",), "only the planner's reader of the step sees the IR"),
    (PLAIN_HEADERS, MLIR, (), "the plain headers are used without MLIR"),
    (("tools/",), ("passes/",), ("passes/driver/", "tools/cleave-opt/"),
     "only cleave-opt runs passes directly, other tools use the driver"),
]

# Headers of an outside library and the folders that may include them. Tests may include all.
OUTSIDE_WALLS = [
    (r"gloo/", ("runtime/comm/gloo/",)),
    (r"(oneapi/)?dnnl", ("runtime/device/cpu/", "runtime/kernels/", "compiler/cluster/")),
    (r"(cuda|cublas|cudnn|nvrtc|nvToolsExt|cupti)", ("runtime/device/cuda/", "runtime/kernels/cuda/")),
    (r"nccl", ("runtime/comm/nccl/",)),
    (r"coin/", ("compiler/solver/",)),
    (r"(jpeglib|jerror|png)\.h", ("runtime/image/",)),
    (r"mimalloc\.h", ("tools/cleave-compile/",)),
    (r"sodium\.h", ("runtime/base/", "runtime/artifact/", "runtime/comm/")),
]

# The outside targets of third_party/CMakeLists.txt by the headers that need them.
OUTSIDE_TARGETS = [
    (r"(mlir|llvm)(-c)?/", "mlir"),
    (r"google/protobuf/", "protobuf"),
    (r"nlohmann/", "nlohmann_json"),
    (r"CLI/", "cli11"),
    (r"(oneapi/)?dnnl", "dnnl_lib"),
    (r"omp\.h", "openmp"),
    (r"zlib\.h", "zlib"),
    (r"(jpeglib|jerror)\.h", "jpeg"),
    (r"png\.h", "png"),
    (r"gloo/", "gloo_lib"),
    (r"sodium\.h", "sodium"),
    (r"mimalloc\.h", "mimalloc_lib"),
    (r"coin/", "cbc"),
]


def walls(tree):
    for path in tree.code():
        for include in tree.includes(path):
            for who, forbidden, allowed, rule in WALLS:
                # `allowed` names either the includer or the included.
                if path.startswith(who) and include.startswith(forbidden) \
                        and not include.startswith(allowed) and not path.startswith(allowed):
                    yield f"{path}: includes {include}, but {rule}"
            for pattern, folders in OUTSIDE_WALLS:
                if re.match(pattern, include) and not path.startswith(folders + ("test/",)):
                    yield f"{path}: includes {include}, which only {' and '.join(folders)} may include"


def edges(tree):
    """Folder -> the other folders that its files include from, with one witness each."""
    graph = {}
    for path in tree.code():
        folder = tree.folder(path)
        for include in tree.includes(path):
            other = tree.folder(include)
            if folder and other and other != folder:
                graph.setdefault(folder, {}).setdefault(other, path)
    return graph


def no_cycles(tree):
    graph = edges(tree)
    done = set()
    for start in sorted(graph):
        trail, stack = [], [(start, iter(sorted(graph.get(start, {}))))]
        trail.append(start)
        while stack:
            folder, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                stack.pop()
                trail.pop()
                done.add(folder)
            elif following in trail:
                cycle = trail[trail.index(following):] + [following]
                witness = graph[folder][following]
                yield f"{witness}: closes the folder cycle {' -> '.join(cycle)}"
                return
            elif following not in done:
                trail.append(following)
                stack.append((following, iter(sorted(graph.get(following, {})))))


def _needs(tree, target):
    """The DEPS required by the includes of a target's files, each with one witness."""
    needs = {}
    for path in target.files:
        for include in tree.includes(path):
            other = tree.owner(include)
            if include.endswith(".pb.h"):  # cleave_protobuf names its library by the .proto file
                needs.setdefault(include.removesuffix(".pb.h"), path)
            elif other and other != target.name:
                needs.setdefault(other, path)
            for pattern, outside in OUTSIDE_TARGETS:
                if re.match(pattern, include):
                    needs.setdefault(outside, path)
    return needs


def deps_are_include_edges(tree):
    optional = {"threads", "openmp", "catch2_main"}  # may be linked without an #include
    for target in tree.targets:
        needs = _needs(tree, target)
        cmake = f"{target.folder}/CMakeLists.txt"
        for missing in sorted(set(needs) - target.deps):
            yield f"{cmake}: {target.name} includes {missing} ({needs[missing]}) but does not list it in DEPS"
        for unused in sorted(target.deps - set(needs) - optional):
            if "$" not in unused:
                yield f"{cmake}: {target.name} lists {unused} in DEPS but does not include it"


def runtime_only_build_is_closed(tree):
    """What the tools of the runtime-only build link is built there. The executable cleave-dump has two readers, its views have one form."""
    if "CMakeLists.txt" not in os.listdir(tree.root):
        return
    parts = re.findall(r"if\(CLEAVE_RUNTIME_ONLY\)(.*?)(?:else|endif)\(\)", tree.text("CMakeLists.txt"), re.S)
    built = {folder for part in parts for folder in re.findall(r"add_subdirectory\((\S+)\)", part)}
    targets = {target.name: target for target in tree.targets}
    needed = [name for name in ("tools/cleave-dump", "cleave-run", "cleave-calibrate") if name in targets]
    for name in needed:  # grows
        target = targets[name]
        if target.folder.startswith(("compiler/", "dialects/", "passes/")) and target.folder not in built:
            yield f"CMakeLists.txt: the runtime-only build lacks {target.folder}, which its tools link"
        needed += sorted(dep for dep in target.deps if dep in targets and dep not in needed)


RULES = [walls, no_cycles, deps_are_include_edges, runtime_only_build_is_closed]
