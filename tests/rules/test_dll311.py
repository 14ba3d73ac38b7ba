"""DLL311: containers whose shared memory is too small for the workers that a project starts in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from tests.pace import slowness

from dllint import config, linter
from dllint.project.container_commands import simple_commands

SELECT = {"select": ["DLL311"]}

TRAIN = """\
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder

def main(workers=4):
    for images, labels in DataLoader(ImageFolder("photos"), batch_size=64, num_workers=workers):  # DLL311
        print(images.shape)

if __name__ == "__main__":
    main()
"""
POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train
spec:
  containers:
    - name: train
      image: train
      args: [python, train.py]
"""


def compose(command: str, more: str = "", name: str = "compose.yaml") -> dict[str, str]:
    lines = "".join(f"    {line}\n" for line in more.splitlines())
    return {"train.py": TRAIN, name: f"services:\n  train:\n    image: train\n    command: {command}\n{lines}"}


def script(text: str, **files: str) -> dict[str, str]:
    return {"train.py": TRAIN, "run.sh": text, **files}


FOUND: dict[str, dict[str, str]] = {
    "a list of arguments": compose("[torchrun, --nproc_per_node=2, /workspace/train.py, --epochs, '3']"),
    "another size is the limit of memory": compose("python train.py", "mem_limit: 64g\nvolumes: ['./:/w']"),
    "an entry point and its arguments": compose("[train.py]", "entrypoint: python -u"),
    "behind a shell script": {
        **compose("bash scripts/train.sh"),
        "scripts/train.sh": "set -e\nexport OMP_NUM_THREADS=1\ncd /workspace && exec python3 -m train --epochs 3\n",
    },
    "the command of the Dockerfile": {
        "train.py": TRAIN,
        "docker/Dockerfile": 'FROM pytorch/pytorch\nENTRYPOINT ["python"]\nCMD ["train.py"]\n',
        "compose.yaml": "services:\n  train:\n    build: {context: ., dockerfile: docker/Dockerfile}\n",
    },
    "the command of the Dockerfile, for a shell": {
        "train.py": TRAIN,
        "Dockerfile": 'FROM pytorch/pytorch\nCMD ["bash", "-c", "echo \\"a, b\\" && python train.py"]\n',
        "compose.yaml": "services:\n  train:\n    build: .\n",
    },
    "what an anchor adds": compose("python train.py", "<<: *common").copy()
    | {
        "compose.yaml": "x-common: &common\n  restart: always\nservices:\n  train:\n    <<: *common\n"
        "    command: python train.py\n"
    },
    "a service that extends another": {
        "train.py": TRAIN,
        "compose.yaml": "services:\n  base:\n    image: train\n"
        "  train:\n    extends: base\n    command: python train.py\n",
    },
    "a program that only hands on what it imports": {
        "train.py": TRAIN,
        "start.py": "from train import main\n\nmain()\n",
        "job.yaml": POD.replace("train.py", "start.py"),
    },
    "a pod inside an object of another kind": {
        "train.py": TRAIN,
        "job.yaml": "kind: PyTorchJob\nspec:\n  pytorchReplicaSpecs:\n    Worker:\n      template:\n        spec:\n"
        "          containers:\n            - name: pytorch\n              command: [python, /app/train.py]\n"
        "              volumeMounts: [{name: data, mountPath: /data}]\n",
    },
    "the second of two documents": {"train.py": TRAIN, "job.yaml": "kind: Service\nspec: {}\n---\n" + POD},
    "nvidia-docker": script("nvidia-docker run -it --rm trainer python train.py | tee log\n"),
    "podman, over several lines": script(
        "podman run --rm \\\n  -v \"$PWD:/w\" \\\n  trainer \\\n  bash -c 'cd /w\npython train.py'\n"
    ),
    "an image in a variable": script('docker run -e "A=b c" --gpus all "$IMAGE_NAME" python train.py\n'),
    "two containers of one program": compose("python train.py") | {"job.yaml": POD},
    "a method that Lightning calls": {
        "module.py": "import lightning\nfrom torch.utils.data import DataLoader\n\n"
        "class Data(lightning.LightningDataModule):\n"
        "    def __init__(self, rows):\n        super().__init__()\n        self.rows = rows\n\n"
        "    def train_dataloader(self):\n        return DataLoader(self.rows, num_workers=4)  # DLL311\n",
        "train.py": "import lightning\nfrom module import Data\n\nif __name__ == '__main__':\n"
        "    lightning.Trainer().fit(object(), Data([1]))\n",
        "compose.yaml": "services:\n  train:\n    command: python train.py\n",
    },
}

SILENT: dict[str, dict[str, str]] = {
    "shm_size": compose("python train.py", "shm_size: 2gb"),
    "the host's": compose("python train.py", "ipc: host"),
    "a tmpfs": compose("python train.py", "tmpfs: /dev/shm:size=8g"),
    "a mount": compose("python train.py", "volumes:\n  - type: bind\n    source: /dev/shm\n    target: /dev/shm"),
    "shm_size behind an anchor": {
        "train.py": TRAIN,
        "compose.yaml": "x-common: &common\n  shm_size: 2gb\nservices:\n  train:\n    <<: *common\n"
        "    command: python train.py\n",
    },
    "shm_size of what the service extends": {
        "train.py": TRAIN,
        "compose.yaml": "services:\n  base:\n    shm_size: 2gb\n  train:\n    extends: {service: base}\n"
        "    command: python train.py\n",
    },
    "a service that extends one of another file": compose(
        "python train.py", "extends: {file: base.yml, service: base}"
    ),
    "shm_size in another file of the directory": {
        **compose("python train.py"),
        "compose.override.yaml": "services:\n  train:\n    shm_size: 2gb\n",
    },
    "no workers, by the arguments": compose("python train.py --num_workers 0"),
    "no workers, by a setting": compose("python train.py data.num_workers=0"),
    "another program": {**compose("python serve.py"), "serve.py": "import torch\nprint(torch.__version__)\n"},
    "no program": compose("jupyter notebook"),
    "a server that has the option": compose("uvicorn train:app --workers 8"),
    "a pod with the memory of the host": {"train.py": TRAIN, "job.yaml": POD + "  hostIPC: true\n"},
    "a pod with a volume": {
        "train.py": TRAIN,
        "job.yaml": POD + "      volumeMounts:\n        - {name: shm, mountPath: /dev/shm}\n",
    },
    "a template that is no YAML": {"train.py": TRAIN, "job.yaml": "{{- if .x }}\n" + POD},
    "--shm-size": script("docker run --rm --shm-size 8g trainer python train.py\n"),
    "--ipc=host": script("docker run --rm --ipc=host trainer python train.py\n"),
    "a mount of docker run": script("docker run -v /dev/shm:/dev/shm trainer python train.py\n"),
    "options in a variable": script("docker run $OPTIONS trainer python train.py\n"),
    "an option that is not known": script("docker run --something new trainer python train.py\n"),
    "a shell": script("docker run -it trainer bash\n"),
    "a comment": script("# docker run trainer python train.py\n"),
    "no container": script("python train.py\n"),
    "no workers": compose("python train.py")
    | {"train.py": TRAIN.replace("workers=4", "workers=0").replace("  # DLL311", "")},
}


@pytest.mark.parametrize("files", FOUND.values(), ids=FOUND.keys())
def test_found(files: dict[str, str], findings: Callable[..., Any], marks: Callable[..., Any]) -> None:
    assert findings(files, **SELECT) == marks(files) != set()


@pytest.mark.parametrize("files", SILENT.values(), ids=SILENT.keys())
def test_silent(files: dict[str, str], findings: Callable[..., Any]) -> None:
    assert findings(files, **SELECT) == set()


def test_it_is_an_info_where_items_may_be_small(told: Callable[..., Any]) -> None:
    texts = TRAIN.replace('ImageFolder("photos")', "list('text')")

    severities = [
        told(compose("python train.py") | {"train.py": text}, **SELECT)[0].severity for text in (TRAIN, texts)
    ]

    assert severities == ["warning", "info"]


def test_the_place_of_the_container(told: Callable[..., Any]) -> None:
    files = {"train.py": TRAIN, "deploy/job.yaml": "---\n" + POD.replace("name: train\nspec", "name: 'train'\nspec")}

    finding = told(files, **SELECT)[0]

    assert "the container at deploy/job.yaml:8 has no more" in finding.text
    assert [(Path(one.path).name, one.span.line) for one in finding.related] == [("job.yaml", 8)]


def test_the_place_of_docker_run(told: Callable[..., Any]) -> None:
    text = (
        "echo 'docker run is next'\n# docker run\nset -e; \\\n  true\ndocker run --rm \\\n  trainer python train.py\n"
    )

    assert "the container at run.sh:5 has no more" in told(script(text), **SELECT)[0].text


def test_a_changed_compose_file_is_read_again(tmp_path: Path) -> None:
    for name, text in compose("python train.py").items():
        (tmp_path / name).write_text(text)
    loaded = config.load([str(tmp_path)], isolated=True, overrides={"select": ["DLL311"]})
    settings = replace(loaded, cache_dir=str(tmp_path / "cache"))
    execution = linter.Execution(jobs=1, cache=True)

    before = linter.check([str(tmp_path)], settings, execution).findings
    with (tmp_path / "compose.yaml").open("a") as file:
        file.write("    shm_size: 1gb\n")
    after = linter.check([str(tmp_path)], settings, execution).findings

    assert [one.code for one in before] == ["DLL311"]
    assert after == ()


def test_commands_of_a_script() -> None:
    text = (
        "A=1 python a.py && torchrun --nproc 2 b.py; c\n# don't\nx='1\n2'\n"
        "python d.py \\\n  --e 'f g' | tee it\nit's\nlast\n"
    )

    assert list(simple_commands(text)) == [
        ["A=1", "python", "a.py"],
        ["torchrun", "--nproc", "2", "b.py"],
        ["c"],
        ["x=1\n2"],
        ["python", "d.py", "--e", "f g"],
        ["tee", "it"],
        ["last"],
    ]


def test_many_containers_and_deep_anchors_take_little_time(told: Callable[..., Any]) -> None:
    names = "abcdefghijklmnopqrs"
    laughs = "a: &a [x, x, x, x, x, x, x, x]\n" + "".join(
        f"{name}: &{name} [{', '.join(['*' + before] * 8)}]\n" for before, name in pairwise(names)
    )
    files = {
        "train.py": TRAIN,
        "compose.yaml": laughs + "services:\n  train:\n    command: *s\n    volumes: *s\n",
        "pod.yaml": laughs + "containers:\n  - command: *s\n",
        "run.sh": "".join(f"docker run trainer bash run.sh {number}\n" for number in range(5000)),
    }

    started = process_time()
    told(files, **SELECT)

    assert process_time() - started < 5 * slowness()
