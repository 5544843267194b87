"""Arrays, samples and logs of the package `cleave`, without a tool. Standard library; NumPy where it is installed."""

import array
import json
import math
import os
import pathlib
import re
import struct
import subprocess
import tempfile
import unittest

import cleave
from cleave import arrays, log, samples, stream, tools
from cleave.columns import Columns, Input

try:
    import numpy
except ImportError:
    numpy = None

PAIR = [Input("x", "f32", (4, 2)), Input("label", "i64", (4,), True)]


def read_npy(path):
    """(type, shape, bytes) of a .npy file, read by the format's description."""
    content = pathlib.Path(path).read_bytes()
    assert content[:8] == b"\x93NUMPY\x01\x00"
    (size,) = struct.unpack("<H", content[8:10])
    assert (10 + size) % 64 == 0 and content[9 + size : 10 + size] == b"\n"
    header = eval(content[10 : 10 + size].decode(), {})  # a dictionary of constants
    assert not header["fortran_order"]
    return header["descr"], header["shape"], content[10 + size :]


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class Arrays(InFolder):
    def test_a_list_of_integers_is_int64_and_one_with_a_float_is_float32(self):
        self.assertEqual((arrays.raw([1, 2]).dtype, arrays.raw([1, 2]).shape), ("<i8", (2,)))
        found = arrays.raw([[1, 2.5], [3, 4]])
        self.assertEqual((found.dtype, found.shape, found.data), ("<f4", (2, 2), struct.pack("<4f", 1, 2.5, 3, 4)))

    def test_a_buffer_keeps_its_type_and_shape(self):
        view = memoryview(array.array("d", range(6))).cast("B").cast("d", (2, 3))
        found = arrays.raw(view)
        self.assertEqual((found.dtype, found.shape, found.data), ("<f8", (2, 3), view.tobytes()))

    def test_ragged_lists_are_refused(self):
        with self.assertRaisesRegex(TypeError, "different lengths"):
            arrays.raw([[1, 2], [3]])

    def test_a_text_is_refused_by_its_type(self):
        with self.assertRaisesRegex(TypeError, "type str, expected an array"):
            arrays.raw("text")

    def test_samples_are_written_one_behind_the_other(self):
        with arrays.NpyWriter(self.folder / "x.npy") as writer:
            writer.append(arrays.raw([[1.0, 2.0]]), "x")
            writer.append(arrays.raw([[3.0, 4.0], [5.0, 6.0]]), "x")
        self.assertEqual(read_npy(writer.path), ("<f4", (3, 2), struct.pack("<6f", *range(1, 7))))

    def test_samples_of_another_shape_are_refused(self):
        with arrays.NpyWriter(self.folder / "x.npy") as writer:
            writer.append(arrays.raw([[1.0, 2.0]]), "x")
            with self.assertRaisesRegex(TypeError, r"`x` of shape \[3\] .* after samples of shape \[2\]"):
                writer.append(arrays.raw([[1.0, 2.0, 3.0]]), "x")

    def test_weights_are_read_with_name_shape_and_numbers(self):
        data = struct.pack("<4f", 1, 2, 3, 4)
        header = json.dumps({"__metadata__": {"a": "b"}, "w": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}}).encode()
        path = self.folder / "w.safetensors"
        path.write_bytes(struct.pack("<Q", len(header)) + header + data)
        found = arrays.load_arrays(path)
        self.assertEqual(list(found), ["w"])
        self.assertEqual(found["w"].tolist(), [[1, 2], [3, 4]])

    @unittest.skipUnless(numpy, "needs NumPy")
    def test_arrays_of_numpy_are_written_as_numpy_reads_them(self):
        for value in (numpy.arange(6).reshape(2, 3)[:, ::2], numpy.float16([[1], [2]]), numpy.array([True, False])):
            arrays.write_npy(self.folder / "x.npy", arrays.raw(value), "x")
            numpy.testing.assert_array_equal(numpy.load(self.folder / "x.npy"), value)


class Samples(InFolder):
    def write(self, data, inputs=PAIR, **options):
        found = samples.write_samples(data, Columns(inputs), self.folder, **options)
        return found.total, {spec.split("=")[0]: read_npy(spec.split("=")[1])[:2] for spec in found.data}

    def test_a_path_and_paths_stay_as_they_are(self):
        self.assertEqual(samples.write_samples("data.npz", Columns(PAIR), self.folder), (["data.npz"], None))
        self.assertEqual(samples.write_samples(["a.npz", pathlib.Path("b.npz")], Columns(PAIR), self.folder), (["a.npz", "b.npz"], None))

    def test_a_dictionary_gives_one_file_per_input(self):
        found = self.write({"x": [[1.0, 2.0]] * 6, "label": [1] * 6, "other": 3})
        self.assertEqual(found, (6, {"x": ("<f4", (6, 2)), "label": ("<i8", (6,))}))

    def test_a_missing_input_is_named(self):
        with self.assertRaisesRegex(ValueError, "found `x` in the data, expected `x`, `label`: `label` missing"):
            self.write({"x": [[1.0, 2.0]]})

    def test_samples_and_batches_are_told_apart_by_their_dims(self):
        self.assertEqual(self.write([([1.0, 2.0], 3)] * 5), (5, {"x": ("<f4", (5, 2)), "label": ("<i8", (5,))}))
        self.assertEqual(self.write([([[1.0, 2.0]] * 3, [3] * 3)] * 5)[0], 15)
        self.assertEqual(self.write({"x": [1.0, 2.0], "label": 3} for _ in range(600))[0], 600)

    def test_other_dims_are_refused_with_both_numbers(self):
        with self.assertRaisesRegex(ValueError, "`x` with 3 dims.*expected batches of `x` with 2"):
            self.write([([[[1.0, 2.0]]], [3])])

    def test_samples_of_other_sizes_than_the_plan_are_refused(self):
        for item in (([1.0, 2.0, 3.0], 3), ([[1.0, 2.0, 3.0]] * 4, [3] * 4), {"x": [1.0], "label": 3}):
            with self.assertRaisesRegex(ValueError, r"a sample of `x` of shape \[[13]\] in the data, expected \[2\].*pad or cut"):
                self.write([item])

    def test_an_endless_iterable_is_read_up_to_the_limit(self):
        def endless():
            while True:
                yield [1.0, 2.0], 3

        self.assertEqual(self.write(endless(), limit=300)[0], 512)

    def test_a_sample_with_too_few_values_is_refused(self):
        with self.assertRaisesRegex(ValueError, "found 1 values per sample in the data, expected 2: `x`, `label`"):
            self.write([([1.0, 2.0],)])

    def test_data_without_samples_are_refused(self):
        with self.assertRaisesRegex(ValueError, "no sample"):
            self.write([])
        with self.assertRaisesRegex(TypeError, "type int, expected a path"):
            self.write(3)


class Labels(InFolder):
    """Labels of tokens, as datasets of Hugging Face have them."""

    TOKENS = [Input("tokens", "i64", (2, 3)), Input("logits.label", "i64", (2, 3), True)]
    ROWS = {"input_ids": [[1, 2, 3], [4, 5, 6]], "labels": [[1, 2, 3], [4, 5, -100]], "text": ["a", "b"]}

    def labels(self, data, **options):
        samples.write_samples(data, Columns(self.TOKENS, {"tokens": "input_ids"}, **options), self.folder)
        dtype, shape, content = read_npy(self.folder / "input-1.npy")
        self.assertEqual((dtype, shape), ("<i8", (2, 3)))
        return list(struct.unpack("<6q", content))

    def test_shifted_labels_are_those_of_the_next_token_and_the_last_is_ignored(self):
        rows = [dict(zip(self.ROWS, row)) for row in zip(*self.ROWS.values())]
        for data in (self.ROWS, rows, [self.ROWS]):
            self.assertEqual(self.labels(data, shifts_labels=True), [2, 3, -100, 5, -100, -100])
            self.assertEqual(self.labels(data, shifts_labels=False), [1, 2, 3, 4, 5, -100])

    def test_labels_that_repeat_the_tokens_need_a_word_about_shifting(self):
        rows = [dict(zip(self.ROWS, row)) for row in zip(*self.ROWS.values())]
        for data in (self.ROWS, rows, [self.ROWS]):
            with self.assertRaisesRegex(ValueError, "`labels` that equal `input_ids`.*give shift_labels=True"):
                self.labels(data)
        self.assertEqual(self.labels({**self.ROWS, "labels": [[0, 2, 3], [4, 5, 6]]}), [0, 2, 3, 4, 5, 6])

    def test_a_column_may_serve_as_labels(self):
        columns = Columns(self.TOKENS, {"tokens": "input_ids", "logits.label": "input_ids"}, True)
        samples.write_samples(self.ROWS, columns, self.folder)
        self.assertEqual(struct.unpack("<6q", read_npy(self.folder / "input-1.npy")[2]), (2, 3, -100, 5, 6, -100))

    def test_mistakes_are_named(self):
        with self.assertRaisesRegex(ValueError, "columns for `ids`, expected inputs of the plan: `tokens`, `logits.label`"):
            Columns(self.TOKENS, {"ids": "input_ids"})
        with self.assertRaisesRegex(ValueError, "a plan without labels"):
            Columns(self.TOKENS[:1], shifts_labels=True)
        with self.assertRaisesRegex(TypeError, "type <f4 .*expected signed integers"):
            self.labels({**self.ROWS, "labels": [[0.5]]}, shifts_labels=True)
        with self.assertRaisesRegex(TypeError, "for data in files"):
            self.labels("tokens.u16", shifts_labels=True)
        with self.assertRaisesRegex(ValueError, "expected `input_ids`, `logits.label`: `logits.label` missing"):
            self.labels({"input_ids": [[1, 2, 3]]})

    def test_windows_join_documents_and_have_the_next_tokens_as_labels(self):
        documents = [[1, 2, 3], {"input_ids": array.array("i", [4])}, [5, 6, 7, 8]]
        found = cleave.windows(documents, 3, separator=0)
        self.assertEqual(list(found), [([1, 2, 3], [2, 3, 0]), ([0, 4, 0], [4, 0, 5]), ([5, 6, 7], [6, 7, 8])])
        self.assertEqual(len(list(found)), 3)
        once = cleave.windows(iter(documents), 3)
        self.assertEqual([len(list(once)), len(list(once))], [2, 0])


class Streams(InFolder):
    """What a feed writes, read as the shell command of the tool does."""

    def fed(self, data, batches, first=0):
        with stream.Feed(data, Columns(PAIR), 4, self.folder) as feed:
            whole = 2 * arrays.HEADER_BYTES + 4 * 2 * 4 + 4 * 8  # bytes of a batch of PAIR
            command = f"({feed.command}) | head -c {batches * whole}"
            done = subprocess.run(["/bin/sh", "-c", command], env={**os.environ, "CLEAVE_FIRST_STEP": str(first)}, capture_output=True, timeout=60)
        labels = []
        for begin in range(0, len(done.stdout), whole):
            labels.append(list(struct.unpack("<4q", done.stdout[begin + whole - 32 : begin + whole])))
            self.assertEqual(done.stdout[begin : begin + 6], b"\x93NUMPY")
        return labels

    class Passes:
        """Five samples in batches of three, drawn anew in each pass; their labels count on."""

        def __init__(self):
            self.passes = 0

        def __iter__(self):
            self.passes += 1
            rows = range(self.passes * 10, self.passes * 10 + 5)
            return iter([([[float(r), 0.0] for r in part], list(part)) for part in (rows[:3], rows[3:])])

    def test_batches_of_any_size_become_those_of_the_plan_pass_after_pass(self):
        self.assertEqual(self.fed(self.Passes(), 4), [[10, 11, 12, 13], [14, 20, 21, 22], [23, 24, 30, 31], [32, 33, 34, 40]])

    def test_a_run_that_resumes_gets_the_samples_behind_its_step(self):
        self.assertEqual(self.fed(self.Passes(), 1, first=2), [[23, 24, 30, 31]])

    def test_an_iterator_goes_on_where_it_is(self):
        self.assertEqual(self.fed(self.samples(), 1, first=2), [[0, 1, 2, 3]])

    def samples(self):
        for i in range(100):
            yield [float(i), 0.0], i

    def test_an_iterator_ends_with_its_last_whole_batch(self):
        self.assertEqual(len(self.fed((item for item, _ in zip(self.samples(), range(10))), 9)), 2)

    def test_an_error_of_the_data_reaches_the_user(self):
        def broken():
            yield [1.0, 2.0], 3
            raise ZeroDivisionError

        with self.assertRaises(ZeroDivisionError):
            self.fed(broken(), 1)
        self.folder = self.folder / "empty"
        self.folder.mkdir()
        with self.assertRaisesRegex(ValueError, "no sample"):
            self.fed({1: 2}.keys() - {1}, 1)

    def test_what_is_held_in_memory_is_not_streamed(self):
        self.assertTrue(stream.can_stream(self.samples(), Columns(PAIR)))
        for data in ("file.npz", {"x": []}, [1], (1,), range(3)):
            self.assertFalse(stream.can_stream(data, Columns(PAIR)), data)


class Logs(InFolder):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "log"

    def append(self, text):
        with open(self.path, "a") as file:
            file.write(text)

    def test_complete_lines_are_new_once(self):
        growing = log.GrowingFile(self.path)
        self.assertEqual(growing.new_lines(), [])
        self.append("a\nb")
        self.assertEqual(growing.new_lines(), ["a"])
        self.append("b\nc\n")
        self.assertEqual(growing.new_lines(), ["bb", "c"])

    def test_lines_from_before_are_not_new_even_in_another_file(self):
        self.append("a\nb\nc\n")
        growing = log.GrowingFile(self.path)
        other = self.folder / "other"
        other.write_text("a\nB\n")
        other.rename(self.path)
        self.assertEqual(growing.new_lines(), ["B"])
        self.append("C\n")
        self.assertEqual(growing.new_lines(), ["C"])

    def test_a_truncated_file_begins_again(self):
        self.append("a\nb\n")
        growing = log.GrowingFile(self.path)
        self.path.write_text("longer than before\nb\nc\n")
        self.assertEqual(growing.new_lines(), ["longer than before", "b", "c"])

    def test_a_step_has_its_metrics_and_a_number_that_is_not_finite_is_nan(self):
        step = log.step_of({"step": 3, "loss": 0.5, "grad_norm": None, "seconds": 0.1})
        self.assertEqual((step.number, step.loss, step.seconds, step.skipped), (3, 0.5, 0.1, False))
        self.assertTrue(math.isnan(step.metrics["grad_norm"]))


class Versions(unittest.TestCase):
    def test_the_package_has_the_version_of_the_tools(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        (tools_version,) = re.findall(r"project\(cleave VERSION (\S+)", (root / "CMakeLists.txt").read_text())
        (wheel_version,) = re.findall(r'^version = "(.*)"', (root / "pyproject.toml").read_text(), re.M)
        self.assertEqual({cleave.__version__, wheel_version}, {tools_version})


class Options(unittest.TestCase):
    def test_every_kind_of_value_has_its_words(self):
        given = {"save_every": 10, "shuffle": True, "quiet": False, "log": None, "set": {"batch": 8, "seq": 4}, "mesh": {"dp": 2, "tp": 2},
                 "value": {"x": [1, 2]}, "freeze": ["a.*", "b"], "data": pathlib.Path("a.npz"), "clip_norm": -1.5}
        self.assertEqual(tools.option_words(given), ["--save-every=10", "--shuffle", "--set=batch=8", "--set=seq=4", "--mesh=dp=2,tp=2",
                                                     "--value=x=1,2", "--freeze=a.*", "--freeze=b", "--data=a.npz", "--clip-norm=-1.5"])

    def test_messages_are_told_apart_by_kind(self):
        found = tools.read_lines("remark: a\nwarning: b\n  more\ncleave-run: warning: c\ncleave-run: error: d\nmore\n")
        self.assertEqual((found["remark"], found["warning"], found["error"]), (["a"], ["b\n  more", "c"], ["d\nmore"]))

    def test_a_missing_library_is_named_with_its_package(self):
        text = "cleave-compile: error while loading shared libraries: libMLIR.so.22.1: cannot open shared object file: No such file or directory"
        with self.assertRaisesRegex(tools.NotInstalled, "found no libMLIR.so.22.1 on this machine.*apt-get install libmlir-22"):
            tools.raise_for("cleave-compile", 127, text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
