"""Facts about array and image libraries, as data tables.

Sources: numpy 2.2, torch 2.13, scipy 1.15, pandas 2.2, lmdb 1.6, pyarrow 19 and OpenCV 4.11 documentation.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Maker:
    """A function that makes an array.

    Attributes:
        library: "numpy" or "torch".
        shape: where the shape is: "first" (one argument, an int or a tuple), "dims" (each argument a dimension),
            "count" (`arange`), "file" (a whole file is read), "same" (as large as what it is given).
        size: keyword that gives the shape where no position does.
        position: position of the shape.
        item: bytes an element unless `dtype=` says otherwise.
        mapped: keyword that makes it a memory map instead of a copy.
        dtype_at: position of the element type.
    """

    library: str
    shape: str
    size: str = "shape"
    position: int = 0
    item: int = 8
    mapped: str = ""
    dtype_at: int = -1


_NUMPY_SHAPES = {name: Maker("numpy", "first", dtype_at=1) for name in ("zeros", "ones", "empty")}
_NUMPY_SHAPES["full"] = Maker("numpy", "first", dtype_at=2)
_NUMPY_DRAWS = {
    "numpy.random.rand": Maker("numpy", "dims"),
    "numpy.random.randn": Maker("numpy", "dims"),
    "numpy.random.random": Maker("numpy", "first", "size"),
    "numpy.random.random_sample": Maker("numpy", "first", "size"),
    "numpy.random.standard_normal": Maker("numpy", "first", "size"),
    "numpy.random.normal": Maker("numpy", "first", "size", 2),
    "numpy.random.uniform": Maker("numpy", "first", "size", 2),
    "numpy.random.randint": Maker("numpy", "first", "size", 2),
    "numpy.random.default_rng().random": Maker("numpy", "first", "size"),
    "numpy.random.default_rng().standard_normal": Maker("numpy", "first", "size"),
    "numpy.random.default_rng().normal": Maker("numpy", "first", "size", 2),
    "numpy.random.default_rng().uniform": Maker("numpy", "first", "size", 2),
    "numpy.random.default_rng().integers": Maker("numpy", "first", "size", 2),
}
_SAME = {
    name: Maker("numpy", "same")
    for name in (
        "array",
        "asarray",
        "ascontiguousarray",
        "copy",
        "concatenate",
        "stack",
        "vstack",
        "hstack",
        "squeeze",
        "transpose",
    )
}
MAKERS: dict[str, Maker] = {
    **{f"numpy.{name}": maker for name, maker in (_NUMPY_SHAPES | _SAME).items()},
    **_NUMPY_DRAWS,
    "numpy.arange": Maker("numpy", "count"),
    "numpy.load": Maker("numpy", "file", mapped="mmap_mode"),
    "numpy.loadtxt": Maker("numpy", "file"),
    "numpy.genfromtxt": Maker("numpy", "file"),
    "numpy.fromfile": Maker("numpy", "file"),
    "scipy.io.loadmat": Maker("numpy", "file"),
    "scipy.sparse.load_npz": Maker("numpy", "file"),
    "h5py.File[:]": Maker("numpy", "file"),
    "h5py.File[][:]": Maker("numpy", "file"),
    "h5py.File.get()[:]": Maker("numpy", "file"),
    "h5py.File().get()[:]": Maker("numpy", "file"),
    "nibabel.load().get_fdata": Maker("numpy", "file"),
    "pandas.read_csv": Maker("numpy", "file"),
    "pandas.read_parquet": Maker("numpy", "file"),
    "pandas.read_hdf": Maker("numpy", "file"),
    "pandas.read_feather": Maker("numpy", "file"),
    "torch.zeros": Maker("torch", "dims", "size", item=4),
    "torch.ones": Maker("torch", "dims", "size", item=4),
    "torch.empty": Maker("torch", "dims", "size", item=4),
    "torch.rand": Maker("torch", "dims", "size", item=4),
    "torch.randn": Maker("torch", "dims", "size", item=4),
    "torch.full": Maker("torch", "first", "size", item=4),
    "torch.randint": Maker("torch", "first", "size", 2),
    "torch.arange": Maker("torch", "count"),
    "torch.from_numpy": Maker("torch", "same"),
    "torch.tensor": Maker("torch", "same"),
    "torch.as_tensor": Maker("torch", "same"),
    "torch.stack": Maker("torch", "same"),
    "torch.cat": Maker("torch", "same"),
    "torch.load": Maker("torch", "file", mapped="mmap"),
}

SIZE_KEEPING = frozenset(
    [
        "astype",
        "reshape",
        "copy",
        "transpose",
        "squeeze",
        "swapaxes",
        "ravel",
        "flatten",
        "float",
        "double",
        "half",
        "long",
        "int",
        "contiguous",
        "clone",
        "view",
        "permute",
        "t",
        "T",
        "values",
        "to_numpy",
        "numpy",
        "unsqueeze",
    ]
)
"""Methods and attributes of an array whose result is as large as the array."""

ITEM_BYTES = {
    "bool": 1, "bool_": 1, "int8": 1, "uint8": 1, "byte": 1, "int16": 2, "uint16": 2, "short": 2, "float16": 2,
    "half": 2, "bfloat16": 2, "int32": 4, "uint32": 4, "float32": 4, "single": 4, "intc": 4, "float": 8, "int": 8,
    "int64": 8, "uint64": 8, "float64": 8, "double": 8, "long": 8, "complex64": 8, "complex128": 16,
}  # fmt: skip
"""Bytes an element by the last name of a dtype; torch's `float` and `int` are 4 (see `TORCH_ITEM_BYTES`)."""
TORCH_ITEM_BYTES = {"float": 4, "int": 4}
CASTS = {"float": 4, "double": 8, "half": 2, "long": 8, "int": 4, "bool": 1, "byte": 1}
"""Methods of a tensor that give it another element type, with its bytes."""


CV2_WITHOUT_POOL = frozenset(
    [
        "imread",
        "imdecode",
        "imwrite",
        "imencode",
        "setNumThreads",
        "getNumThreads",
        "setUseOptimized",
        "useOptimized",
        "VideoCapture",
        "VideoWriter",
        "imshow",
        "waitKey",
        "destroyAllWindows",
        "namedWindow",
        "getTickCount",
        "getTickFrequency",
        "error",
        "UMat",
        "ocl",
        "utils",
        "samples",
        "VideoWriter_fourcc",
        "fourcc",
        "Rodrigues",
        # Matrices and points
        *("getRotationMatrix2D", "getAffineTransform", "getPerspectiveTransform", "invertAffineTransform"),
        *("getGaussianKernel", "getStructuringElement", "projectPoints", "solvePnP", "perspectiveTransform"),
        *("boundingRect", "minAreaRect", "boxPoints", "contourArea", "arcLength", "convexHull", "approxPolyDP"),
        *("fitEllipse", "minEnclosingCircle", "pointPolygonTest", "moments", "clipLine", "intersectConvexConvex"),
        # Drawing
        *("drawContours", "rectangle", "circle", "line", "arrowedLine", "polylines", "fillPoly", "fillConvexPoly"),
        *("ellipse", "putText", "getTextSize"),
        # Pixels that are moved, or worked out one by one
        *("copyMakeBorder", "flip", "rotate", "transpose", "split", "merge", "hconcat", "vconcat", "copyTo"),
        *("extractChannel", "insertChannel", "mixChannels", "add", "addWeighted", "subtract", "multiply", "absdiff"),
        *("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "compare", "inRange", "convertScaleAbs"),
        *("minMaxLoc", "norm", "mean", "meanStdDev", "countNonZero"),
    ]
)
"""Last names of cv2 calls that start no thread pool worth capping: input and output, settings, and what works in the
calling thread alone. For the last, no thread was seen after a call on 4000 × 3000 pixels with `setNumThreads(4)`
(OpenCV 5.0.0, pthreads); `cvtColor`, `warpAffine`, `remap`, `erode`, `GaussianBlur` and `threshold` started three."""
CV2_CAPITALIZED_FUNCTIONS = frozenset(
    {
        *("GaussianBlur", "Canny", "Sobel", "Laplacian", "Scharr", "LUT", "HoughCircles", "HoughLines", "HoughLinesP"),
        *("HuMoments", "PCACompute", "PCACompute2", "PCAProject", "PCABackProject", "SVDecomp"),
    }
)
"""Functions of cv2 that are named like classes."""
