"""boto3 1.44 (boto3.amazonaws.com)."""

from dllint.libraries.facets import Library
from dllint.libraries.pickling import Refusal, always, local
from dllint.screen import Words


def _unfound(module: str) -> Refusal:
    what = "an AWS client" if module == "botocore.client" else "an AWS resource"
    return Refusal(
        what, always(f"PicklingError: Can't pickle <class '{module}.…'>: attribute lookup … on {module} failed")
    )


LIBRARY = Library(
    refusals={
        **dict.fromkeys(("boto3.client", "boto3.session.Session().client"), _unfound("botocore.client")),
        "boto3.resource": _unfound("boto3.resources.factory"),
        **dict.fromkeys(
            ("boto3.Session", "boto3.session.Session"),
            Refusal("an AWS session", local("lazy_call.<locals>._handler")),
        ),
    },
    words=Words(nearby=(b"boto3",)),
)
