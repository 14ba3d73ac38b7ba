# What Python imports at its start in every process of an instrumented run, by way of PYTHONPATH. It starts the
# instrumentation, then makes way for the sitecustomize that would have been imported without it. Programs may start
# interpreters of any age, so this file keeps to what all of them can read.
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
    """Makes this very package importable, also where the program's own interpreter does not have it.

    The package itself runs only when somebody asks for what it offers.
    """
    # That of importlib.machinery, which every process would pay half a millisecond for.
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
