"""safetensors."""

from dllint.libraries.facets import Library

LIBRARY = Library(new_tensors=frozenset({"safetensors.torch.load_file"}))
