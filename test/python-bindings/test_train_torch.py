# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""openatc.train on modules, losses and optimizers of PyTorch."""

import os

import pytest

from test_foreign import run_with

nightly = pytest.mark.skipif(not os.environ.get("OPENATC_NIGHTLY"), reason="takes half a minute")

NET = """
import numpy as np, torch, openatc
from torch import nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(4)
        self.drop = nn.Dropout(0.0)
        self.cell = nn.LSTMCell(4, 6)
        self.unused = nn.Linear(2, 2)
        self.head = nn.Linear(6, 1)
    def forward(self, image):
        y = self.drop(F.relu(self.norm(self.conv(image)))).mean(3)
        h = c = torch.zeros(y.shape[0], 6)
        for step in range(y.shape[2]):
            h, c = self.cell(y[:, :, step], (h, c))
        return self.head(h)

torch.manual_seed(1)
net = Net()
images, targets = torch.randn(4, 4, 1, 3, 5), torch.randn(4, 4, 1)
"""


def test_a_module_trains_as_in_pytorch():
    run_with("torch", NET + """
net.norm.bias.requires_grad_(False)
groups = [{"params": [p for name, p in net.named_parameters() if "bias" not in name]},
          {"params": [p for name, p in net.named_parameters() if "bias" in name],
           "weight_decay": 0.0}]
optimizer = torch.optim.AdamW(groups, lr=0.02, weight_decay=0.1, betas=(0.8, 0.9))
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
net.eval()
trainer = openatc.train(net, args=images[0], loss=nn.MSELoss(), optimizer=optimizer, threads=1)
assert not net.training and "forward" not in vars(net)
trained = {name for name, p in net.named_parameters() if p.requires_grad}
assert set(trainer.parameters) == {name for name in trained if not name.startswith("unused")}
copy = Net()
copy.load_state_dict(net.state_dict())
net.train()
for image, target in zip(images, targets):
    rate = optimizer.param_groups[0]["lr"]
    optimizer.zero_grad()
    loss = F.mse_loss(net(image), target)
    loss.backward()
    info = trainer.run(image, target)
    assert abs(info.loss - loss.item()) < 1e-4 and info.learning_rate == rate, info
    optimizer.step()
    scheduler.step()
trainer.copy_to(copy)
for name, value in net.state_dict().items():
    # PyTorch's running variance is that of a sample.
    near = 2e-2 if name.endswith("running_var") else 1e-4
    if "num_batches" not in name:
        np.testing.assert_allclose(copy.state_dict()[name], value, atol=near, err_msg=name)
""", needs=("onnx", "onnxscript"))


@nightly
def test_a_loss_of_ones_own():
    run_with("torch", NET + """
import os, tempfile
def loss(output, target):
    return F.huber_loss(output, target, delta=0.5) + 0.1 * output.square().mean()
trainer = openatc.train(net, args=images[0], loss=loss, target=targets[0],
                        optimizer=torch.optim.SGD(net.parameters(), lr=0.1), threads=1)
assert "forward" not in vars(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for image, target in zip(images, targets):
    optimizer.zero_grad()
    output = net(image)
    expected = loss(output, target)
    expected.backward()
    optimizer.step()
    info = trainer.run(image, target)
    assert abs(info.loss - expected.item()) < 1e-4
    (own,) = info.outputs.values()
    np.testing.assert_allclose(own, output.detach(), atol=1e-4)
# The exported model has the module's input and output only.
with tempfile.TemporaryDirectory() as folder:
    trainer.export_onnx(os.path.join(folder, "net.onnx"))
    model = openatc.compile(os.path.join(folder, "net.onnx"))
assert [port.name for port in model.inputs] == ["image"] and len(model.outputs) == 1
trainer.copy_to(net)
with torch.no_grad():
    np.testing.assert_allclose(openatc.Session(model)(images[0]), net.eval()(images[0]), atol=1e-4)
""", needs=("onnx", "onnxscript"))


def test_shared_weights_and_inputs_by_name():
    """A language model: an embedding that is the head's weight as well, and a loss on the outputs
    of a module that gives several by name."""
    run_with("torch", """
import numpy as np, torch, openatc
from torch import nn
import torch.nn.functional as F

class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, 6)
        self.body = nn.Linear(6, 6)
        self.head = nn.Linear(6, 11, bias=False)
        self.head.weight = self.embed.weight
    def forward(self, ids, scale=None):
        hidden = torch.tanh(self.body(self.embed(ids))) * scale
        return {"logits": self.head(hidden), "hidden": hidden}

def loss(output, target):
    return F.cross_entropy(output["logits"].flatten(0, 1), target.flatten())

torch.manual_seed(3)
net = Tied()
ids, target = torch.randint(0, 11, (3, 4)), torch.randint(0, 11, (3, 4))
feed = {"ids": ids, "scale": torch.full((6,), 0.5)}
optimizer = torch.optim.SGD(net.parameters(), lr=0.5, weight_decay=0.01)
trainer = openatc.train(net, kwargs=feed, args=(), loss=loss, target=target, threads=1,
                        optimizer=torch.optim.SGD(net.parameters(), lr=0.5, weight_decay=0.01))
assert len(trainer.parameters) == 3, trainer.parameters
for step in range(3):
    optimizer.zero_grad()
    expected = loss(net(**feed), target)
    expected.backward()
    optimizer.step()
    assert abs(trainer.step(feed, target) - expected.item()) < 1e-5
copy = Tied()
trainer.copy_to(copy)
assert copy.head.weight is copy.embed.weight
torch.testing.assert_close(copy.state_dict(), net.state_dict(), atol=1e-5, rtol=0)
""", needs=("onnx", "onnxscript"))


def test_what_onnx_does_not_say_is_trained_as_pytorch_does():
    """Rows of padding, smoothed labels with weights, a probability per class, and groups of an
    optimizer with rates and decays of their own, which a scheduler multiplies."""
    run_with("torch", """
import numpy as np, torch, openatc
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, 6, padding_idx=2)
        self.head = nn.Linear(6, 5)
    def forward(self, ids):
        return self.head(self.embed(ids).mean(1))

def optimizer_of(net):
    return torch.optim.AdamW([{"params": net.embed.parameters(), "lr": 0.01, "weight_decay": 0.2},
                              {"params": [net.head.weight], "lr": 0.05, "weight_decay": 0.1},
                              {"params": [net.head.bias], "lr": 0.01, "weight_decay": 0.0}])

torch.manual_seed(3)
ids = torch.randint(0, 11, (6, 4))
ids[:, 2:] = 2
for loss, target in [
        (nn.CrossEntropyLoss(weight=torch.rand(5), label_smoothing=0.2, ignore_index=-1),
         torch.tensor([0, -1, 4, 2, 3, -1])),
        (nn.CrossEntropyLoss(weight=torch.rand(5), label_smoothing=0.1),
         torch.softmax(torch.randn(6, 5), 1))]:
    net, copy = Net(), Net()
    with torch.no_grad():
        net.embed.weight[2] = 1.0
    copy.load_state_dict(net.state_dict())
    mine, optimizer = optimizer_of(net), optimizer_of(copy)
    scheduler = torch.optim.lr_scheduler.LinearLR(mine, 0.25, total_iters=3)
    other = torch.optim.lr_scheduler.LinearLR(optimizer, 0.25, total_iters=3)
    trainer = openatc.train(net, args=ids, loss=loss, target=target, optimizer=mine, threads=1)
    for step in range(4):
        optimizer.zero_grad()
        expected = loss(copy(ids), target)
        expected.backward()
        optimizer.step()
        assert abs(trainer.step(ids, target) - expected.item()) < 1e-5
        scheduler.step()
        other.step()
    trainer.copy_to(net)
    torch.testing.assert_close(net.state_dict(), copy.state_dict(), atol=2e-5, rtol=0)

mine.param_groups[1]["lr"] *= 2
try:
    trainer.step(ids, target)
except openatc.Error as why:
    assert "the step keeps their ratio" in str(why), why
else:
    raise AssertionError

class Tied(Net):
    def forward(self, ids):
        return self.embed(ids).mean(1) @ self.embed.weight.T
try:
    openatc.train(Tied(), args=ids, loss=nn.CrossEntropyLoss(), optimizer="sgd")
except openatc.Error as why:
    assert "E15003" in str(why) and "padding_idx=2" in str(why), why
else:
    raise AssertionError
""", needs=("onnx", "onnxscript"))


@nightly
def test_what_a_step_cannot_do_is_refused():
    run_with("torch", NET + """
def refused(error, text, module=net, **options):
    try:
        openatc.train(module, **{"args": images[0], "loss": "mse", **options})
    except error as why:
        assert text in str(why), why
    else:
        raise AssertionError(text)

stepped = torch.optim.Adam(net.parameters())
F.mse_loss(net(images[0]), targets[0]).backward()
stepped.step()
refused(openatc.Error, "Adam has made steps", optimizer=stepped)
refused(openatc.Error, "RMSprop is not known", optimizer=torch.optim.RMSprop(net.parameters()))
refused(openatc.Error, "amsgrad=True", optimizer=torch.optim.Adam(net.parameters(), amsgrad=True))
refused(openatc.Error, "different momentum", optimizer=torch.optim.SGD(
    [{"params": net.conv.parameters(), "momentum": 0.5}, {"params": net.head.parameters()}], lr=1.0))
refused(openatc.Error, "no parameter that requires", net.requires_grad_(False))
net.requires_grad_(True)
refused(openatc.Error, "a parameter that the module does not have",
        optimizer=torch.optim.SGD(Net().parameters(), lr=1.0))
refused(TypeError, "example inputs", args=None)
refused(TypeError, "an example of its target", loss=lambda output, target: output.sum())
refused(TypeError, "torch.nn.Module", module=b"", loss=nn.MSELoss())

class Detached(nn.Linear):
    def forward(self, x):
        y = super().forward(x)
        return y * y.detach()
refused(openatc.Error, "E15003: no gradient is known for detach()", Detached(3, 2),
        args=torch.ones(4, 3))
refused(openatc.Error, "E15003: forward() changes the buffers weight_u, weight_v",
        nn.utils.spectral_norm(nn.Linear(3, 2)), args=torch.ones(4, 3))
""", needs=("onnx", "onnxscript"))
