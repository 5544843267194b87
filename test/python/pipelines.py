#!/usr/bin/env python3
"""Pipeline schedules and their CSV files against PyTorch's: every schedule class, for several numbers of ranks, stages per
rank and micro-batches. The orders are equal, and so are the files with communication; each side reads what the other writes.

PIPELINE_CSV is the tool pipeline-csv of test/unit/schedule_pipelines (build/test/unit by default). Skipped without PyTorch and
its version's schedules.
"""

import contextlib
import io
import logging
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    from torch.distributed.pipelining import schedules as torch_schedules
    from torch.distributed.pipelining.stage import _PipelineStageBase
    CLASSES = {  # our name: PyTorch's class, stages per rank
        "gpipe": (torch_schedules.ScheduleGPipe, (1,)),
        "1f1b": (torch_schedules.Schedule1F1B, (1,)),
        "looped-bfs": (torch_schedules.ScheduleLoopedBFS, (1, 2, 3)),
        "interleaved": (torch_schedules.ScheduleInterleaved1F1B, (1, 2, 3, 4)),
        "interleaved-zb": (torch_schedules.ScheduleInterleavedZeroBubble, (1, 2, 3, 4)),
        "zb-v": (torch_schedules.ScheduleZBVZeroBubble, (2,)),
        "dualpipe-v": (torch_schedules.ScheduleDualPipeV, (2,)),
    }
    WAITS = torch_schedules._ComputationType.WAIT_SEND_F  # since 2.15
except (ImportError, AttributeError) as error:
    print(f"skipped: found no PyTorch of at least version 2.15 in this Python ({error}); -DCLEAVE_PYTHON=… gives another")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = os.environ.get("PIPELINE_CSV", ROOT / "build/test/unit/pipeline-csv")


class Stage(_PipelineStageBase):
    """What the schedules ask of a stage before they run."""

    def __init__(self, index, ranks, stages):
        self.stage_index, self.group_size, self.num_stages = index, ranks, stages
        self.group_rank, self.group, self.submod = 0, None, None


Stage.__abstractmethods__ = frozenset()  # of running


class Tool:
    """The running tool: one command, one answer."""

    def __init__(self):
        self.process = subprocess.Popen([TOOL], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, *words):
        print(*words, file=self.process.stdin, flush=True)
        lines = []
        while (line := self.process.stdout.readline()) != "end\n":
            assert line, "the tool ended"
            lines.append(line)
        return "".join(lines)


def schedule_of(kind, ranks, per_rank, micro_batches):
    """PyTorch's schedule, or None where it does not support the sizes."""
    stages = [Stage(v * ranks, ranks, ranks * per_rank) for v in range(per_rank)]
    first = stages[0] if issubclass(kind, torch_schedules.PipelineScheduleSingle) else stages
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return kind(first, micro_batches)
    except ValueError:
        return None


def text_of(order):
    """The rows of an order without idle steps and reductions, which only the lowered order has to have."""
    rows = [[str(a) for a in order[rank] if a is not None and a.is_compute_op] for rank in sorted(order)]
    return "".join(",".join(row) + "\n" for row in rows)


def expected_order(name, schedule, ranks):
    """The last rank of 1F1B numbers its forwards from 1 in what PyTorch prints, but not in what it runs."""
    order = dict(schedule.pipeline_order)
    if name == "1f1b":
        order[ranks - 1] = [a._replace(microbatch_index=a.microbatch_index - 1) if a and str(a.computation_type.value) == "F" else a
                            for a in order[ranks - 1]]
    return text_of(order)


def check_equal(what, ours, theirs):
    if ours != theirs:
        sys.exit(f"{what}: found\n{ours}\nPyTorch has\n{theirs}")


def check_files(tool, folder, name, schedule, sizes):
    """Files in both formats: equal where communication is listed, and each side reads the other's."""
    for form in ("compute_only", "compute_comms"):
        ours, theirs = folder / "ours.csv", folder / "theirs.csv"
        ours.write_text(tool("write", name, *sizes, form))
        schedule._dump_csv(theirs, format=form)
        if form == "compute_comms":
            check_equal(f"{name} {sizes} {form}", ours.read_text(), theirs.read_text().replace("\r\n", "\n"))
        check_equal(f"{name} {sizes}, read from {form}", tool("read", form, theirs), text_of(schedule.pipeline_order))
        loaded = schedule_of(type(schedule), *sizes)
        loaded._load_csv(ours, format=form)
        check_equal(f"{name} {sizes}, loaded by PyTorch from {form}", text_of(loaded.pipeline_order_with_comms),
                    text_of(schedule.pipeline_order))


def main():
    logging.disable(logging.INFO)
    tool, orders, files = Tool(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for name, (kind, per_ranks) in CLASSES.items():
            for ranks in (1, 2, 3, 4, 8):
                for per_rank in per_ranks:
                    for micro_batches in sorted({1, ranks, ranks + 1, 2 * ranks, 5 * ranks // 2, 4 * ranks}):
                        sizes = (ranks, per_rank, micro_batches)
                        if not (schedule := schedule_of(kind, *sizes)):
                            continue
                        check_equal(f"{name} {sizes}", tool("write", name, *sizes, "compute_only"),
                                    expected_order(name, schedule, ranks))
                        orders += 1
                        if hasattr(schedule, "pipeline_order_with_comms") and micro_batches <= 2 * ranks:
                            check_files(tool, pathlib.Path(folder), name, schedule, sizes)
                            files += 2
    print(f"{orders} orders of {len(CLASSES)} schedule classes and {files} files are equal to PyTorch's")
    assert orders > 250 and files > 200, (orders, files)


if __name__ == "__main__":
    main()
