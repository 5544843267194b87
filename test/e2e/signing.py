"""Signed plans: --sign, --trust, and what is refused before anything of a plan is loaded."""

import hashlib
import os
import shutil
import subprocess
import unittest

import cleave
import fixture
import onnx_edit

PRIVATE = """-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f
-----END PRIVATE KEY-----
"""
PUBLIC = """-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAA6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=
-----END PUBLIC KEY-----
"""
OTHER = """-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEASwBAtdHNXAl/Z0B7OVqH+J1KuApITkb9BiuYbdCNL6A=
-----END PUBLIC KEY-----
"""


class Signing(fixture.Plans):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, text in (("key.pem", PRIVATE), ("public.pem", PUBLIC), ("other.pem", OTHER)):
            (cls.folder / name).write_text(text)
        (cls.folder / "key.pem").chmod(0o600)
        cls.plan = cls.folder / "mlp.plan"
        cleave.compile_model(cleave.MLP["model"], cls.plan, "--sign", cls.folder / "key.pem")

    def run_plan(self, plan, *trusted):
        options = [part for name in trusted for part in ("--trust", self.folder / name)]
        return cleave.tool("cleave-run", plan, "--data", cleave.MLP["data"], "--steps", 1, *options)

    def copy(self, name):
        plan = self.folder / name
        shutil.copy(self.plan, plan)
        shutil.copy(f"{self.plan}.sig", f"{plan}.sig")
        return plan

    def test_a_signed_plan_runs_under_its_key(self):
        self.assertEqual(self.run_plan(self.plan, "public.pem").code, 0)
        self.assertEqual(self.run_plan(self.plan, "other.pem", "public.pem").code, 0)
        self.assertEqual(self.run_plan(self.plan).code, 0)

    def test_another_key_a_changed_plan_and_no_signature_are_refused(self):
        self.refuses(self.run_plan(self.plan, "other.pem"), "signature")
        changed = self.copy("changed.plan")
        with open(changed, "r+b") as file:
            file.seek(-1, os.SEEK_END)
            last = file.read(1)
            file.seek(-1, os.SEEK_END)
            file.write(bytes([last[0] ^ 1]))
        self.refuses(self.run_plan(changed, "public.pem"), "signature", "changed")
        unsigned = self.copy("unsigned.plan")
        os.remove(f"{unsigned}.sig")
        self.refuses(self.run_plan(unsigned, "public.pem"), "not signed")

    def test_code_of_a_refused_plan_does_not_run(self):
        """The plan of a library whose constructor writes a file: it runs without --trust, and not with it."""
        compiler = shutil.which("cc") or shutil.which("gcc")
        if not compiler:
            self.skipTest("no C compiler")
        mark, hostile = self.folder / "mark", self.copy("hostile.plan")
        source = self.folder / "hostile.c"
        source.write_text('#include <fcntl.h>\n__attribute__((constructor)) static void run(void) { creat("%s", 0600); }\n' % mark)
        library = self.folder / "hostile.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
        hostile.write_bytes(edited(self.plan.read_bytes(), 18, module(library.read_bytes())))
        self.refuses(self.run_plan(hostile, "public.pem"), "signature")
        self.assertFalse(mark.exists())
        self.refuses(self.run_plan(hostile), "no kernel")  # the table of kernels is not this library's
        self.assertTrue(mark.exists(), "the test would not notice a constructor that runs")

    def test_an_inconsistent_plan_with_a_right_hash_is_bad_input(self):
        changed = self.folder / "inconsistent.plan"
        mesh = onnx_edit.join([field(1, b"dp"), (2, onnx_edit.VARINT, 2)])  # an axis of size 2
        changed.write_bytes(edited(self.plan.read_bytes(), 6, mesh))
        self.refuses(self.run_plan(changed), "cannot be run", "its mesh has 2")
        changed.write_bytes(edited(self.plan.read_bytes(), 18, module(b"no library")))
        self.refuses(self.run_plan(changed), "cannot load the plan's kernels")

    def test_a_private_key_that_others_can_read_is_refused(self):
        key = self.folder / "open.pem"
        key.write_text(PRIVATE)
        key.chmod(0o644)
        plan = self.folder / "open.plan"
        answer = cleave.tool("cleave-compile", *cleave.compile_options(cleave.MLP["model"]), "--sign", key, "-o", plan)
        self.refuses(answer, "open.pem", "chmod 600")
        self.assertFalse(plan.exists())

    def test_openssl_makes_keys_and_checks_signatures(self):
        openssl = shutil.which("openssl")
        if not openssl:
            self.skipTest("no openssl")
        key, public, plan = (self.folder / name for name in ("made.pem", "made-public.pem", "made.plan"))
        subprocess.run([openssl, "genpkey", "-algorithm", "ed25519", "-out", key], check=True)
        key.chmod(0o600)
        subprocess.run([openssl, "pkey", "-in", key, "-pubout", "-out", public], check=True)
        cleave.compile_model(cleave.MLP["model"], plan, "--sign", key)
        self.assertEqual(self.run_plan(plan, "made-public.pem").code, 0)
        verify = [openssl, "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", public, "-sigfile", f"{plan}.sig", "-in"]
        self.assertEqual(subprocess.run([*verify, plan], capture_output=True).returncode, 0)
        self.assertNotEqual(subprocess.run([*verify, self.plan], capture_output=True).returncode, 0)


def field(number, data):
    return (number, onnx_edit.BYTES, data)


def module(code):
    """A message Module for CPUs."""
    return onnx_edit.join([field(1, b"cpu"), field(2, code)])


def edited(plan, number, replacement):
    """The plan file with other data in the last field of this number, and the content hash (field 2) of the result."""
    fields = onnx_edit.fields(plan[20:])
    last = max(i for i, (found, _, _) in enumerate(fields) if found == number)
    fields[last] = field(number, replacement)
    hashed = onnx_edit.join(part for part in fields if part[0] != 2)
    digest = hashlib.sha256(hashed).hexdigest().encode()
    content = onnx_edit.join(field(2, digest) if part[0] == 2 else part for part in fields)
    return plan[:12] + len(content).to_bytes(8, "little") + content


if __name__ == "__main__":
    unittest.main()
