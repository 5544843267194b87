"""Cleave: compiles a neural network into a distributed training run.

    import cleave

    plan = cleave.compile(module, example_inputs, loss="softmax-cross-entropy", optimizer="adamw:lr=3e-4", ranks=4)
    print(plan.summary())                    # decisions with their reasons
    run = plan.run(dataset, steps=200)       # trains on 4 processes of this machine
    run.load(module)                         # the trained weights, back in the module

`compile` also takes the path of a model file, and needs PyTorch for an nn.Module only. Every option of the tools is a keyword argument:
`save_every=10` is `--save-every 10`.
"""

from .columns import Input
from .compiling import Profile, compile, export, profile, zoo
from .errors import CompileError, Defect, Error, Interrupted, NoPlan, NotInstalled, RankLost, RunError, Stop, Warning
from .log import Evaluation, Step
from .modules import load_weights
from .plan import Alternative, Decision, Plan, Prediction
from .run import Run
from .tools import call
from .trackers import MLflow, Tracker, WandB
from .windows import windows

__version__ = "0.1.0"

__all__ = ["Alternative", "CompileError", "Decision", "Defect", "Error", "Evaluation", "Input", "Interrupted", "MLflow", "NoPlan", "NotInstalled", "Plan",
           "Prediction", "Profile", "RankLost", "Run", "RunError", "Step", "Stop", "Tracker", "WandB", "Warning", "call", "compile", "export", "load_weights",
           "profile", "windows", "zoo"]
