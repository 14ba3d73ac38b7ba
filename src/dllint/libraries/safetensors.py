"""safetensors."""

from dllint.libraries.facets import CudaApi, CudaArgument, Library

LIBRARY = Library(
    new_tensors=frozenset({"safetensors.torch.load_file"}),
    # Measured with torch 2.11.0 and Python 3.12 on an H200
    cuda_device_arguments={
        "safetensors.torch.load_file": CudaArgument("device", CudaApi(poisons=True, fails=True, places=True), 1)
    },
)
