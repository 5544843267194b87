"""Datasets and collators of Hugging Face as data of a run: the losses are those of Transformers."""

import copy
import sys
import unittest
import warnings

try:
    import torch
    from datasets import Dataset
    from tokenizers import Tokenizer, models
    from transformers import DataCollatorForLanguageModeling, GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
except ImportError as error:
    print(f"skipped: found no {error.name} in this Python, expected PyTorch, datasets, tokenizers and transformers; -DCLEAVE_PYTHON=… gives another")
    sys.exit(77)

import cleave
from torch.utils.data import DataLoader

VOCABULARY, LENGTH, BATCH, STEPS = 13, 8, 4, 3
QUIET = {"threads": 1, "progress": False}


def gpt():
    torch.manual_seed(0)
    config = GPT2Config(n_layer=1, n_head=2, n_embd=16, vocab_size=VOCABULARY, n_positions=LENGTH, bos_token_id=0, eos_token_id=0,
                        resid_pdrop=0, embd_pdrop=0, attn_pdrop=0, loss_type="ForCausalLM")
    return GPT2LMHeadModel(config)


def trained_by_transformers(module, batches):
    module = copy.deepcopy(module)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    losses = []
    for batch in batches:
        optimizer.zero_grad()
        loss = module(**batch).loss
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


class HuggingFace(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        self.module = gpt()
        self.ids = torch.randint(1, VOCABULARY, (BATCH * STEPS, LENGTH))
        self.labels = self.ids.clone()
        self.labels[:, -2:] = -100
        self.dataset = Dataset.from_dict({"input_ids": self.ids.tolist(), "labels": self.labels.tolist(), "text": ["…"] * len(self.ids)})
        rows = [slice(i * BATCH, (i + 1) * BATCH) for i in range(STEPS)]
        self.wanted = trained_by_transformers(self.module, [{"input_ids": self.ids[r], "labels": self.labels[r]} for r in rows])

    def plan(self, loss, *columns):
        example = {"input_ids": self.ids[:BATCH], "labels": self.labels[:BATCH]}
        return cleave.compile(self.module, {name: example[name] for name in columns}, loss=loss, optimizer="sgd:lr=0.1", ranks=2, pin="dp")

    def close(self, run):
        torch.testing.assert_close(run.losses, self.wanted, rtol=1e-5, atol=1e-6)

    def test_a_model_that_computes_its_loss_gets_the_columns_by_name(self):
        plan = self.plan("output:loss", "input_ids", "labels")
        for data in (self.dataset, self.dataset.with_format("torch"), self.dataset.to_iterable_dataset()):
            self.close(plan.run(data, steps=STEPS, **QUIET))
        self.assertTrue(self.module.config.use_cache, "as before the export")

    def test_labels_of_a_causal_model_are_shifted(self):
        plan = self.plan("softmax-cross-entropy:logits", "input_ids")
        self.close(plan.run(self.dataset, steps=STEPS, shift_labels=True, **QUIET))
        self.close(plan.run(self.dataset.to_iterable_dataset(), steps=STEPS, shift_labels=True, **QUIET))
        renamed = self.dataset.rename_columns({"input_ids": "tokens", "labels": "next"})
        columns = {"input_ids": "tokens", "logits.label": "next"}
        self.close(plan.run(renamed, steps=STEPS, shift_labels=True, columns=columns, **QUIET))
        with self.assertRaisesRegex(ValueError, "shift_labels=True"):
            plan.run(self.dataset, steps=STEPS, **QUIET)

    def test_a_collator_gives_the_batches_of_a_loader(self):
        tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordLevel({"[PAD]": 0, "[UNK]": 1}, "[UNK]")), pad_token="[PAD]")
        collator = DataCollatorForLanguageModeling(tokenizer, mlm=False, pad_to_multiple_of=LENGTH)
        lengths = [LENGTH - i % 3 for i in range(len(self.ids))]
        dataset = Dataset.from_dict({"input_ids": [row[:length] for row, length in zip(self.ids.tolist(), lengths)]})
        loader = DataLoader(dataset, batch_size=BATCH, collate_fn=collator)
        self.wanted = trained_by_transformers(self.module, [{"input_ids": b["input_ids"], "labels": b["labels"]} for b in loader])
        self.close(self.plan("output:loss", "input_ids", "labels").run(loader, steps=STEPS, **QUIET))
        self.close(self.plan("softmax-cross-entropy:logits", "input_ids").run(loader, steps=STEPS, shift_labels=True, **QUIET))

    def test_a_tokenised_stream_is_cut_into_windows(self):
        documents = Dataset.from_dict({"input_ids": [row[: 1 + i % LENGTH] for i, row in enumerate(self.ids.tolist() * 4)]}).to_iterable_dataset()
        plan = self.plan("softmax-cross-entropy:logits", "input_ids")
        tokens = [token for document in documents for token in document["input_ids"]]
        samples = [(tokens[i : i + LENGTH], tokens[i + 1 : i + LENGTH + 1]) for i in range(0, len(tokens) - LENGTH, LENGTH)]
        wanted = plan.run(samples, steps=STEPS, **QUIET).losses
        self.assertEqual(plan.run(cleave.windows(documents, LENGTH), steps=STEPS, **QUIET).losses, wanted)


if __name__ == "__main__":
    warnings.simplefilter("ignore", FutureWarning)
    unittest.main(verbosity=2)
