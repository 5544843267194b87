"""`cleave-dump --torchtitan`: the file is TOML with fields that torchtitan 0.2.2 has, its degrees multiply to the number of ranks, and each sentence
about a decision that it cannot express is also printed."""

import math
import tomllib
import unittest

import cleave
import fixture

# The fields that Cleave writes, by section.
FIELDS = {
    "optimizer": {"name", "lr", "beta1", "beta2", "eps", "weight_decay"},
    "training": {"local_batch_size", "global_batch_size", "seq_len", "max_norm", "dtype", "mixed_precision_param"},
    "parallelism": {"data_parallel_replicate_degree", "data_parallel_shard_degree", "fsdp_reshard_after_forward", "tensor_parallel_degree",
                    "context_parallel_degree", "expert_parallel_degree", "pipeline_parallel_degree", "pipeline_parallel_microbatch_size",
                    "pipeline_parallel_schedule"},
    "activation_checkpoint": {"mode", "selective_ac_option"},
}
SHARD, REPLICATE, TENSOR, STAGE = ("data_parallel_shard_degree", "data_parallel_replicate_degree", "tensor_parallel_degree", "pipeline_parallel_degree")


class Torchtitan(fixture.InFolder):
    def exported(self, *options, ranks=4):
        """The sections of the file for a plan, and the sentences in it."""
        plan, path = self.folder / "gpt.plan", self.folder / "gpt.toml"
        cleave.compile_model(cleave.GPT["model"], plan, *options, ranks=ranks)
        said = " ".join(cleave.must("cleave-dump", plan, "--torchtitan", path).out.split())
        text = path.read_text()
        sentences = [line.removeprefix("# not expressible: ") for line in text.splitlines() if line.startswith("# not expressible: ")]
        for sentence in sentences:
            self.assertIn(sentence, said)
        sections = tomllib.loads(text)
        for name, section in sections.items():
            self.assertLessEqual(set(section), FIELDS[name], name)
        degrees = {key: value for key, value in sections["parallelism"].items() if key.endswith("_degree") and not key.startswith("expert")}
        self.assertEqual(math.prod(degrees.values()), ranks, degrees)
        return sections, sentences

    def degrees(self, sections):
        return {key: value for key, value in sections["parallelism"].items() if key.endswith("_degree") and value > 1}

    def test_fsdp(self):
        sections, sentences = self.exported("--pin", "fsdp", "--accumulate", 2, "--clip-norm", "0.5", "--dtype", "bf16")
        self.assertEqual(self.degrees(sections), {SHARD: 4})
        self.assertEqual(sections["parallelism"]["fsdp_reshard_after_forward"], "always")
        self.assertEqual(sections["training"], {"local_batch_size": 2, "global_batch_size": 16, "seq_len": 16, "max_norm": 0.5, "dtype": "float32",
                                                "mixed_precision_param": "bfloat16"})
        self.assertEqual(sections["optimizer"]["weight_decay"], 0.01)
        self.assertEqual(sentences, [])

    def test_fsdp_beside_tensor_parallelism_with_all_activations_recomputed(self):
        sections, sentences = self.exported("--pin", "fsdp+tp:2,full-recompute")
        self.assertEqual(self.degrees(sections), {SHARD: 2, TENSOR: 2})
        self.assertEqual(sections["activation_checkpoint"], {"mode": "full"})
        self.assertTrue(any(sentence.startswith("the dims of parameters that tp=2 splits") for sentence in sentences))

    def test_hsdp(self):
        sections, _ = self.exported("--mesh", "replicate=2,shard=2", "--pin", "hsdp")
        self.assertEqual(self.degrees(sections), {REPLICATE: 2, SHARD: 2})

    def test_replicas_with_sharded_states(self):
        sections, sentences = self.exported("--pin", "zero1")
        self.assertEqual(self.degrees(sections), {REPLICATE: 4})
        self.assertTrue(any(sentence.startswith("optimizer states with other layouts") for sentence in sentences))

    def test_stages(self):
        sections, sentences = self.exported("--stages", 2, "--accumulate", 4, "--schedule", "interleaved")
        self.assertEqual(sections["parallelism"][STAGE], 2)
        self.assertEqual(sections["parallelism"]["pipeline_parallel_schedule"], "Interleaved1F1B")
        self.assertEqual((sections["training"]["local_batch_size"], sections["training"]["global_batch_size"]), (16, 32))
        self.assertTrue(any(sentence.startswith("where the model is cut") for sentence in sentences))

    def test_inference_is_refused(self):
        plan = self.folder / "inference.plan"
        cleave.compile_model(cleave.GPT["model"], plan, train=False)
        answer = cleave.tool("cleave-dump", plan, "--torchtitan", "-")
        self.assertEqual(answer.code, 1)
        self.assertIn("is a plan for inference", answer.err)


if __name__ == "__main__":
    unittest.main()
