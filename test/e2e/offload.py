"""Values in host memory and in files: what a plan keeps there changes no bit of what is trained, is never more than planned, and lets
models train whose states and saved values are several times the memory of a device."""

import itertools
import json
import math
import signal
import subprocess
import time
import unittest
import unittest.mock

import cleave
import fixture
import stages

STEPS = 4
ALL = "offload:states,offload:parameters,offload:activations"
HOST, FILE = ("--host-memory", "1GiB"), ("--file-memory", "1GiB")
MODELS = {
    "gpt2": ({"hidden": 64, "heads": 4, "layers": 8, "vocab": 101, "ffn": 256, "context": 32}, 32),
    "unet": ({"layers": 2, "hidden": 8, "image": 32, "classes": 2}, 0),
    "mixtral-8x7b": ({"hidden": 32, "heads": 4, "layers": 3, "vocab": 101, "kv-heads": 2, "ffn": 48}, 16),
}


def described(plan):
    return json.loads(cleave.must("cleave-dump", plan, "--json").out)


def bytes_of(plan, role):
    """Of all tensors of this role, which are f32."""
    return sum(4 * math.prod(tensor["shape"]) for tensor in described(plan)["tensors"] if tensor["role"] == role)


def memory_of(plan):
    """Bytes of a rank by space, the most of all ranks."""
    found = {"device": 0, "host": 0, "file": 0}
    for program in described(plan)["programs"]:
        for arena in program["arenas"]:
            found[arena["space"]] = max(found[arena["space"]], arena["bytes"])
    return found


class Offload(fixture.Plans):
    def numbers(self, plan, samples, *options):
        return self.trained(plan, samples, STEPS, *options)

    def write(self, name, micro_batches=1):
        return stages.write(name, MODELS[name], self.folder, micro_batches)

    def test_pins_move_what_they_name_and_change_no_bit(self):
        for name in MODELS:
            model, samples, options = self.write(name)
            kept = self.compile("kept", model, *options)
            wanted, before = self.numbers(kept, samples), memory_of(kept)
            for pin, space in itertools.product(("offload:states", "offload:parameters", "offload:activations", ALL), (HOST, FILE)):
                with self.subTest(model=name, pin=pin, space=space[0]):
                    plan = self.compile("moved", model, *options, "--pin", pin, *space)
                    self.assertEqual(self.numbers(plan, samples), wanted)
                    after = memory_of(plan)
                    self.assertLess(after["device"], before["device"])
                    self.assertGreater(after[space[0].split("-")[2]], 0)
                    self.assertEqual(after["file" if space == HOST else "host"], 0)

    def test_states_of_four_times_and_saved_values_of_twice_the_budget(self):
        """The planner chooses what is elsewhere, and the model trains as if all were kept."""
        model, samples, options = stages.write("gpt2", ({**MODELS["gpt2"][0], "layers": 16}, 32), self.folder, 1)
        options = options[: options.index("--clip-norm")]  # for which all gradients wait
        kept = self.compile("kept", model, *options)
        states = bytes_of(kept, "state")
        budget = states // 4
        self.assertGreater(memory_of(kept)["device"] - states - bytes_of(kept, "parameter"), 2 * budget)
        wanted = self.numbers(kept, samples)
        for space in (HOST, FILE):
            with self.subTest(space=space[0]):
                plan = self.compile("moved", model, *options, "--memory", f"{budget}B", *space)
                self.assertLessEqual(memory_of(plan)["device"], budget)
                self.assertEqual(self.numbers(plan, samples), wanted)

    def test_every_combination_with_recomputation_stages_and_split_states(self):
        """Of {offload, recomputation, pipeline, ZeRO}: they train what one rank trains that keeps everything, within each budget."""
        for name in MODELS:
            model, samples, options = self.write(name, 2)
            wanted = self.numbers(self.compile("kept", model, *options), samples)
            for recompute, pipeline, zero in itertools.product((False, True), repeat=3):
                pins = [*(["zero3"] if zero else []), *(["full-recompute"] if recompute else [])]
                more, ranks = ["--stages", 2] if pipeline else [], (2 if pipeline else 1) * (2 if zero else 1)
                with self.subTest(model=name, pins=pins, stages=more):
                    plans = [self.compile("here", model, *options, *more, *(["--pin", ",".join(pins)] if pins else []), ranks=ranks),
                             self.compile("there", model, *options, *more, "--pin", ",".join([*pins, ALL]), *HOST, ranks=ranks)]
                    self.assertGreater(memory_of(plans[1])["host"], 0)
                    self.assertLess(memory_of(plans[1])["device"], memory_of(plans[0])["device"])
                    found = self.numbers(plans[0], samples)
                    self.assertEqual(self.numbers(plans[1], samples), found)
                    for a, b in zip(found, wanted):
                        self.assertLess(max(abs(x - y) / abs(y) for x, y in zip(a, b)), 1e-5)

    def test_the_planner_mixes_what_is_moved_and_what_is_recomputed(self):
        """Where host memory is short, too; and it says what is missing."""
        with unittest.mock.patch.object(stages, "BATCH", 8):
            model, samples, options = self.write("gpt2")
        kept = self.compile("kept", model, *options)
        wanted, most = self.numbers(kept, samples), memory_of(kept)["device"]
        for device, host in ((0.5, 1), (0.5, 0.3), (0.3, 0.5)):
            with self.subTest(device=device, host=host):
                plan = self.compile("mixed", model, *options, "--memory", f"{int(device * most)}B", "--host-memory", f"{int(host * most)}B")
                used = memory_of(plan)
                self.assertLessEqual(used["device"], device * most)
                self.assertLessEqual(used["host"], host * most)
                self.assertEqual(self.numbers(plan, samples), wanted)
        self.fails(model, options, ["--pin", "offload:states"], 1, "offload:states", "--host-memory")
        self.fails(model, options, ["--pin", ALL, "--host-memory", "64KiB"], 2, "host memory", "--host-memory is 64.0 KiB")
        self.fails(model, options, ["--memory", "64KiB", "--host-memory", "64KiB"], 2, "64.0 KiB")

    def test_the_free_plan_is_predicted_to_be_about_as_fast_as_pins_in_the_same_memory(self):
        """Copies run beside computation on CPUs, too: what they hide counts for less than what is recomputed."""
        with unittest.mock.patch.object(stages, "BATCH", 8):
            model, samples, options = self.write("gpt2")
        wanted = None
        for pin in ("offload:states", "offload:parameters", "offload:activations", ALL):
            with self.subTest(pin=pin):
                pinned = self.compile("pinned", model, *options, "--pin", pin, *HOST)
                used = memory_of(pinned)
                free = self.compile("free", model, *options, "--memory", f"{used['device']}B", *HOST)
                self.assertLessEqual(memory_of(free)["device"], used["device"])
                seconds = [described(plan)["predicted"]["step_seconds"] for plan in (free, pinned)]
                self.assertLessEqual(seconds[0], 1.02 * seconds[1])
                wanted = wanted or self.numbers(pinned, samples)
                self.assertEqual(self.numbers(pinned, samples), wanted)
                self.assertEqual(self.numbers(free, samples), wanted)

    def fails(self, model, options, more, code, *words):
        answer = cleave.tool("cleave-compile", model, *options, *more, "--cluster", "local-cpu", "-o", self.folder / "none.plan")
        self.refuses(answer, *words, code=code)
        self.assertFalse((self.folder / "none.plan").exists())

    def test_a_killed_run_goes_on_with_the_same_bits(self):
        """From checkpoints that hold what was elsewhere, under any plan; nothing is left of the files."""
        model, samples, options = self.write("gpt2")
        plans = [self.compile("kept", model, *options), self.compile("host", model, *options, "--pin", ALL, *HOST),
                 self.compile("file", model, *options, "--pin", ALL, *FILE)]
        wanted = self.numbers(plans[0], samples)
        space = self.folder / "space"
        space.mkdir()
        for before, after in ((1, 0), (2, 1), (0, 2), (2, 2)):
            with self.subTest(before=plans[before].stem, after=plans[after].stem):
                saved = self.folder / f"saved-{before}-{after}"
                command = [cleave.BIN / "cleave-run", plans[before], "--data", samples, "--steps", "1000000", "--threads", "1", "--save", saved, "--save-every", "2", "--file-space", space]
                with subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
                    while not list(saved.glob("step-*/index.json")) and run.poll() is None:
                        time.sleep(0.02)
                    run.send_signal(signal.SIGKILL)
                self.assertEqual(list(space.iterdir()), [])
                first = sorted(saved.glob("step-*"))[0]
                done = int(first.name.split("-")[1])
                if done < STEPS:
                    self.assertEqual(self.numbers(plans[after], samples, "--resume", first), wanted[done:])

    def test_a_folder_without_space_is_reported_before_the_first_step(self):
        model, samples, options = self.write("gpt2")
        plan = self.compile("file", model, *options, "--pin", ALL, *FILE)
        answer = cleave.tool("cleave-run", plan, "--data", samples, "--steps", 1, "--file-space", self.folder / "nowhere")
        self.refuses(answer, "nowhere", "No such file")


if __name__ == "__main__":
    unittest.main()
