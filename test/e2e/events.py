"""Event files for TensorBoard: a dumb reader finds every metric of every step, and so does TensorBoard's own where it is installed."""

import importlib.util
import struct
import unittest

import cleave
import fixture


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0x82F63B78 * (crc & 1)
    return crc ^ 0xFFFFFFFF


def checksum(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    while data:
        (length,), (check,) = struct.unpack("<Q", data[:8]), struct.unpack("<I", data[8:12])
        assert check == checksum(data[:8]), "checksum of a length"
        body, (check,) = data[12 : 12 + length], struct.unpack("<I", data[12 + length : 16 + length])
        assert check == checksum(body), "checksum of a record"
        yield body
        data = data[16 + length :]


def fields(data):
    """(number, value) of a message: integers, 8 bytes as float, 4 bytes as float, or bytes."""

    def varint():
        nonlocal data
        value, shift = 0, 0
        while True:
            byte, data = data[0], data[1:]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while data:
        key = varint()
        kind = key & 7
        if kind == 0:
            yield key >> 3, varint()
            continue
        size = varint() if kind == 2 else {1: 8, 5: 4}[kind]
        part, data = data[:size], data[size:]
        yield key >> 3, part if kind == 2 else struct.unpack({1: "<d", 5: "<f"}[kind], part)[0]


class Events(fixture.InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        plan, saved = cls.folder / "mlp.plan", cls.folder / "saved"
        cleave.compile_model(cleave.MLP["model"], plan, "--pin", "dp", "--eval", ranks=2)
        cls.board = cls.folder / "runs" / "mlp"
        more = ["--save", saved, "--tensorboard", cls.board]
        first, _ = cleave.train(plan, cleave.MLP["data"], 3, cls.folder / "first.jsonl", *more)
        second, _ = cleave.train(plan, cleave.MLP["data"], 5, cls.folder / "second.jsonl", *more, "--resume", saved, "--eval", cleave.MLP["data"])
        (cls.evaluated,) = cleave.evaluations(cls.folder / "second.jsonl")
        cls.steps = first + second

    def test_the_checksum_is_the_known_one(self):
        self.assertEqual(crc32c(b"123456789"), 0xE3069283)

    def test_every_metric_of_every_step_is_there(self):
        found = {}
        files = sorted(self.board.iterdir())
        self.assertEqual(len(files), 2)
        for file in files:
            first, *steps = [dict(fields(record)) for record in records(file.read_bytes())]
            self.assertEqual(first[3], b"brain.Event:2")
            for event in steps:
                values = [dict(fields(value)) for _, value in fields(event[5])]
                found.setdefault(event.get(2, 0), {}).update({value[1].decode(): value[2] for value in values})
        self.assertEqual(sorted(found), [line["step"] for line in self.steps])
        for line in self.steps:
            names = {"loss": "loss", "grad_norm": "grad_norm", "lr": "learning_rate", "seconds": "seconds", "mfu": "mfu"}
            wanted = {*names.values(), "samples_per_second", "epoch"}
            self.assertEqual({tag for tag in found[line["step"]] if not tag.startswith("eval/")}, {f"train/{name}" for name in wanted})
            for name, tag in names.items():
                self.assertAlmostEqual(found[line["step"]][f"train/{tag}"], line[name], delta=1e-6 * abs(line[name]))
        self.assertAlmostEqual(found[4]["eval/loss"], self.evaluated["eval_loss"], delta=1e-6)

    @unittest.skipUnless(importlib.util.find_spec("tensorboard"), "TensorBoard is not installed")
    def test_tensorboard_reads_it(self):
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

        board = EventAccumulator(str(self.board))
        board.Reload()
        self.assertEqual([event.step for event in board.Scalars("train/loss")], [line["step"] for line in self.steps])
        for event, line in zip(board.Scalars("train/loss"), self.steps):
            self.assertAlmostEqual(event.value, line["loss"], delta=1e-6 * line["loss"])

    def test_a_folder_that_cannot_be_made_is_one_message(self):
        plan, blocked = self.folder / "mlp.plan", self.folder / "file"
        blocked.write_text("")
        answer = cleave.tool("cleave-run", plan, "--data", cleave.MLP["data"], "--steps", 1, "-q", "--tensorboard", blocked / "board")
        self.assertEqual(answer.code, 1)
        self.assertEqual(len(answer.errors()), 1, answer)
        self.assertIn("--tensorboard: cannot create folder", answer.err)


if __name__ == "__main__":
    unittest.main()
