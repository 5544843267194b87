"""`cleave-dump --dtensor` against PyTorch: parameters and states that `distribute_tensor` divides among processes by these
placements are, on every rank, the blocks that Cleave's checkpoint has of that rank."""

import json
import pathlib
import re
import sys
import tempfile
import unittest

try:
    import torch
    import torch.multiprocessing
    from torch import distributed
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor
    from torch.distributed.tensor._utils import compute_local_shape_and_global_offset
    from torch.distributed.tensor.placement_types import _StridedShard
except ImportError as error:
    print(f"skipped: found no PyTorch with DTensor in this Python ({error}); -DCLEAVE_PYTHON=… gives another")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import cleave

TYPES = {"F32": torch.float32, "F64": torch.float64, "I64": torch.int64}


def placement(text):
    """`Shard(0)` as an object."""
    name, dim, _, factor = re.fullmatch(r"(\w+)\((\d*)(, split_factor=(\d+))?\)", text).groups()
    return {"Replicate": Replicate, "Shard": lambda: Shard(int(dim)),
            "_StridedShard": lambda: _StridedShard(int(dim), split_factor=int(factor))}[name]()


def read_safetensors(path):
    """The tensors of a file by name."""
    data = path.read_bytes()
    end = 8 + int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8:end]).items():
        if name != "__metadata__":
            begin, stop = (end + offset for offset in entry["data_offsets"])
            values = torch.frombuffer(bytearray(data[begin:stop]), dtype=TYPES[entry["dtype"]]) if stop > begin else \
                torch.empty(0, dtype=TYPES[entry["dtype"]])
            tensors[name] = values.reshape(entry["shape"])
    return tensors


class Checkpoint:
    """The blocks of a checkpoint by tensor: (offset, shape) to (rank that wrote it, values)."""

    def __init__(self, folder):
        index = json.loads((folder / "index.json").read_text())
        files = {name: read_safetensors(folder / name) for name in index["files"]}
        self.shapes = {name: tensor["shape"] for name, tensor in index["tensors"].items()}
        self.blocks = {name: {(tuple(s["offset"]), tuple(s["shape"])):
                              (int(re.search(r"\d+", s["file"]).group()), files[s["file"]][name]) for s in tensor["slices"]}
                       for name, tensor in index["tensors"].items()}

    def whole(self, name):
        whole = torch.empty(self.shapes[name], dtype=next(iter(self.blocks[name].values()))[1].dtype)
        for (offset, shape), (_, values) in self.blocks[name].items():
            whole[tuple(slice(o, o + s) for o, s in zip(offset, shape))] = values.reshape(shape)
        return whole


def compare(rank, world, meeting, described, checkpoint, answers):
    """One process: puts into `answers` what differs, and the tensors of which it wrote its block to the checkpoint."""
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", f"file://{meeting}", rank=rank, world_size=world)
    mesh = distributed.device_mesh.init_device_mesh("cpu", described["mesh"]["shape"], mesh_dim_names=described["mesh"]["dim_names"])
    axes = tuple(name for name in described["mesh"]["dim_names"] if name != "stage")
    of_stage = mesh[axes] if "stage" in described["mesh"]["dim_names"] else mesh
    stage = mesh.get_local_rank("stage") if of_stage is not mesh else None
    wrong, mine = [], []
    for kind in ("parameters", "states"):
        for name, entry in described[kind].items():
            if stage is not None and stage not in entry["stages"]:
                continue
            placements = [placement(text) for text in entry["placements"]]
            local = distribute_tensor(checkpoint.whole(name), of_stage, placements, src_data_rank=None).to_local()
            shape, offset = compute_local_shape_and_global_offset(entry["shape"], of_stage, placements)
            if 0 in shape:  # an empty block has no place
                continue
            block = checkpoint.blocks[name].get((tuple(offset), tuple(shape)))
            if block is None or not torch.equal(local, block[1].reshape(local.shape)):
                wrong.append(f"rank {rank}: {name} {entry['placements']}: {list(local.shape)} at {list(offset)}")
            elif block[0] == rank:
                mine.append(name)
    answers.put((rank, wrong, mine))
    distributed.destroy_process_group()


class Placements(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def described(self, *options, **how):
        """The placements of a plan for the small GPT, which is left in the folder."""
        plan = self.folder / "gpt.plan"
        cleave.compile_model(cleave.GPT["model"], plan, *options, **how)
        cleave.must("cleave-dump", plan, "--dtensor", self.folder / "gpt.json")
        return json.loads((self.folder / "gpt.json").read_text())

    def check(self, *options, ranks=4):
        """The blocks of DTensors are those of a checkpoint. Returns the placements."""
        described = self.described(*options, ranks=ranks)
        cleave.must("cleave-run", self.folder / "gpt.plan", "--data", cleave.GPT["data"], "--steps", 1, "--threads", 1, "-q", "--save",
                    self.folder / "saved")
        checkpoint = Checkpoint(self.folder / "saved/step-00000001")
        answers = torch.multiprocessing.get_context("fork").SimpleQueue()
        processes = torch.multiprocessing.start_processes(compare, (ranks, self.folder / "meeting", described, checkpoint, answers),
                                                          nprocs=ranks, join=False, start_method="fork")
        found = [answers.get() for _ in range(ranks)]
        while not processes.join():
            pass
        self.assertEqual([line for _, wrong, _ in found for line in wrong], [])
        described_names = {*described["parameters"], *described["states"]}
        for rank, _, mine in found:
            wrote = {name for name, blocks in checkpoint.blocks.items() if any(writer == rank for writer, _ in blocks.values())}
            self.assertEqual(set(mine), wrote & described_names, f"rank {rank}")
        return described

    def test_tensor_beside_data_parallelism(self):
        described = self.check("--mesh", "dp=2,tp=2", "--pin", "megatron")
        self.assertEqual(described["mesh"], {"dim_names": ["dp", "tp"], "shape": [2, 2]})
        self.assertEqual(described["parameters"]["blocks.0.attn.qkv.weight"]["placements"], ["Replicate()", "Shard(0)"])
        self.assertEqual(described["parameters"]["blocks.0.mlp.proj.weight"]["placements"], ["Replicate()", "Shard(1)"])
        self.assertEqual(described["parameters"]["head.weight"]["other_names"], ["tok.weight"])
        self.assertEqual(described["inputs"]["tokens"]["placements"], ["Shard(0)", "Replicate()"])
        self.assertEqual(described["not_expressible"], [])

    def test_two_axes_on_one_dim(self):
        """Tensor parallelism splits first, and its blocks are sharded: the order of axes differs from that of the mesh."""
        described = self.check("--pin", "fsdp+tp:2")
        self.assertEqual(described["parameters"]["blocks.0.attn.qkv.weight"]["placements"], ["_StridedShard(0, split_factor=2)", "Shard(0)"])

    def test_two_axes_on_one_dim_in_the_order_of_the_mesh(self):
        described = self.check("--mesh", "a=2,b=2", "--pin", "fsdp")
        self.assertEqual(described["parameters"]["head.weight"]["placements"], ["Shard(0)", "Shard(0)"])

    def test_blocks_of_unequal_sizes(self):
        described = self.check("--pin", "fsdp", ranks=3)
        self.assertEqual(described["parameters"]["head.weight"]["placements"], ["Shard(0)"])  # 64 rows

    def test_stages_of_a_pipeline(self):
        described = self.check("--stages", 2, "--accumulate", 2, "--pin", "zero1")
        self.assertEqual(described["mesh"]["dim_names"], ["stage", "dp"])
        stages = {name: entry["stages"] for name, entry in described["parameters"].items()}
        self.assertEqual((stages["pos.weight"], stages["ln.weight"]), ([0], [1]))
        self.assertEqual(stages["head.weight"], [0, 1], "the tied embedding")


if __name__ == "__main__":
    unittest.main()
