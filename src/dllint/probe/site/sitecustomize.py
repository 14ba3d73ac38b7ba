# Python imports this file at its start in every process of an instrumented run, via PYTHONPATH. It starts the
# instrumentation, then imports the sitecustomize that it shadows. Programs may start interpreters of any age, so this
# file uses only syntax that all of them can read.
import os
import sys


def _begin():
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != here]
    directory = os.environ.get("DLLINT_PROBE")
    if directory and sys.version_info >= (3, 10):
        try:
            _load(os.path.dirname(os.path.dirname(here)))
            from dllint.probe import start

            start.begin(directory)
        except Exception as error:
            sys.stderr.write("dllint: cannot instrument process {}: {!r}\n".format(os.getpid(), error))
    own = sys.modules.pop("sitecustomize", None)
    try:
        __import__("sitecustomize")
    except ImportError as error:
        if getattr(error, "name", "sitecustomize") != "sitecustomize":
            raise
    finally:
        sys.modules.setdefault("sitecustomize", own)


def _load(package):
    """Make this very package importable, even if the program's interpreter does not have it.

    The package's `__init__` runs only when one of its names is accessed.
    """
    # Not through importlib.machinery, whose import would cost every process half a millisecond.
    spec = sys.modules["_frozen_importlib_external"].PathFinder.find_spec("dllint", [os.path.dirname(package)])
    module = type(sys)("dllint")
    module.__file__ = spec.origin
    module.__path__ = [package]
    module.__spec__ = spec
    module.__loader__ = spec.loader
    module.__package__ = "dllint"

    def offered(name):
        if name.startswith("__") and name != "__version__":
            raise AttributeError(name)
        del module.__getattr__
        spec.loader.exec_module(module)
        return getattr(module, name)

    module.__getattr__ = offered
    sys.modules["dllint"] = module


_begin()
