"""google-cloud-core 2 (`google/cloud/client/__init__.py`)."""

from dllint.libraries.facets import Library
from dllint.libraries.pickling import Refusal, always

LIBRARY = Library(
    refusals={
        "google.cloud.storage.Client": Refusal(
            "a Google Cloud client",
            always("PicklingError: Pickling client objects is explicitly not supported.…"),
        ),
    },
)
