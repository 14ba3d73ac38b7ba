import torch


def read_image(path):
    with open(path, "rb") as stream:
        return torch.tensor(list(stream.read()), dtype=torch.uint8)
