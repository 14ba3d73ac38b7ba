"""The datasets package of the Hugging Face hub (huggingface.co/docs/datasets 3.0, "Loading methods", "Dataset").

A `Dataset` maps Arrow files into memory and holds no Python objects itself; each row it returns is a new dict.
"""

from dllint.libraries.facets import Library

LIBRARY = Library(readers={"datasets.load_dataset": "hub", "datasets.load_from_disk": "hub"})
