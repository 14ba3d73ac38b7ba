"""OpenCV 4.11 and 5.0 (docs.opencv.org; measured as described in `io.py` and `pickling.py`)."""

from dllint.libraries.facets import DECODED, Library, Maker, Opener, OwnDraws
from dllint.libraries.pickling import Refusal, instance
from dllint.screen import Words

WITHOUT_POOL = frozenset(
    [
        *("imread", "imdecode", "imwrite", "imencode", "setNumThreads", "getNumThreads", "setUseOptimized"),
        *("useOptimized", "VideoCapture", "VideoWriter", "imshow", "waitKey", "destroyAllWindows", "namedWindow"),
        *("getTickCount", "getTickFrequency", "error", "UMat", "ocl", "utils", "samples", "VideoWriter_fourcc"),
        *("fourcc", "Rodrigues"),
        # Matrices and points
        *("getRotationMatrix2D", "getAffineTransform", "getPerspectiveTransform", "invertAffineTransform"),
        *("getGaussianKernel", "getStructuringElement", "projectPoints", "solvePnP", "perspectiveTransform"),
        *("boundingRect", "minAreaRect", "boxPoints", "contourArea", "arcLength", "convexHull", "approxPolyDP"),
        *("fitEllipse", "minEnclosingCircle", "pointPolygonTest", "moments", "clipLine", "intersectConvexConvex"),
        *("isContourConvex", "minEnclosingTriangle", "fitLine", "matchShapes", "undistortPoints", "triangulatePoints"),
        *("convertPointsToHomogeneous", "convertPointsFromHomogeneous", "decomposeProjectionMatrix", "RQDecomp3x3"),
        *("decomposeHomographyMat", "findHomography", "estimateAffinePartial2D", "getOptimalNewCameraMatrix"),
        *("composeRT", "solvePnPRansac", "invert", "determinant", "gemm", "transform"),
        # Drawing
        *("drawContours", "rectangle", "circle", "line", "arrowedLine", "polylines", "fillPoly", "fillConvexPoly"),
        *("ellipse", "putText", "getTextSize", "drawMarker"),
        # Pixels that are moved, or worked out one by one
        *("copyMakeBorder", "flip", "rotate", "transpose", "split", "merge", "hconcat", "vconcat", "copyTo"),
        *("extractChannel", "insertChannel", "mixChannels", "add", "addWeighted", "subtract", "multiply", "absdiff"),
        *("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "compare", "inRange", "convertScaleAbs"),
        *("minMaxLoc", "norm", "mean", "meanStdDev", "countNonZero", "normalize", "sumElems", "integral", "magnitude"),
        *("cartToPolar", "polarToCart", "max", "pow", "repeat", "floodFill"),
        *("findNonZero", "hasNonZero", "blur", "boxFilter", "adaptiveThreshold", "distanceTransform", "matchTemplate"),
        *("dft", "idft", "dct", "phaseCorrelate", "sort", "sortIdx", "min", "divide", "exp", "log", "sqrt", "phase"),
        *("accumulate", "accumulateWeighted", "scaleAdd", "getRectSubPix", "calcBackProject", "compareHist", "PSNR"),
        *("randu", "randn", "setRNGSeed", "setIdentity", "transposeND", "patchNaNs", "convexityDefects"),
        *("eigen", "solve", "trace", "mulTransposed"),
    ]
)
"""Last names of cv2 calls that start no thread pool worth capping: input and output, settings, and functions that work
in the calling thread alone. For the last group, no thread was seen after a call on 4000 × 3000 pixels with
`setNumThreads(4)` (OpenCV 5.0.0, pthreads), and none for the others on 1,000 points or small matrices (also 4.10.0);
`cvtColor`, `warpAffine`, `remap`, `erode`, `GaussianBlur` and `threshold` started three. From `findNonZero` on with
`setNumThreads(8)` (4.11.0 and 5.0.0)."""
SMALL = 256 * 256
"""Pixels up to which some functions work in the calling thread alone."""
ALONE_IF_SMALL = frozenset({"cvtColor", "threshold", "erode", "dilate", "filter2D", "medianBlur"})
"""Functions that do so with an image of that size, as `resize` to that size does unless it uses INTER_CUBIC: no thread
was seen with 256 × 256 pixels, and three with 320 × 320 (5.0.0; erode, filter2D and medianBlur started none there
either). `GaussianBlur`, `warpAffine` and `warpPerspective` started three with 32 × 32."""
CAPITALIZED_FUNCTIONS = frozenset(
    {
        *("GaussianBlur", "Canny", "Sobel", "Laplacian", "Scharr", "LUT", "HoughCircles", "HoughLines", "HoughLinesP"),
        *("HuMoments", "PCACompute", "PCACompute2", "PCAProject", "PCABackProject", "SVDecomp"),
    }
)
"""Functions of cv2 that are named like classes."""

_CLASSES = {
    "VideoCapture": "an OpenCV capture",
    "VideoWriter": "an OpenCV video writer",
    "CascadeClassifier": "an OpenCV object",
    "HOGDescriptor": "an OpenCV object",
    "QRCodeDetector": "an OpenCV object",
    "KalmanFilter": "an OpenCV object",
    "BFMatcher": "an OpenCV matcher",
    "FlannBasedMatcher": "an OpenCV matcher",
    "FileStorage": "an OpenCV file storage",
    "UMat": "an OpenCV UMat",
    "KeyPoint": "an OpenCV key point",
    "dnn.Net": "an OpenCV network",
}
_WITH_CREATE = ("SIFT", "ORB", "AKAZE", "BRISK", "FastFeatureDetector", "SimpleBlobDetector", "DISOpticalFlow")
_MADE_BY_CREATE = ("CLAHE", "BackgroundSubtractorMOG2", "BackgroundSubtractorKNN", "LineSegmentDetector")


def _refusals() -> dict[str, Refusal]:
    rows = {f"cv2.{kind}": (kind, what) for kind, what in _CLASSES.items()}
    for kind in _WITH_CREATE:
        rows |= dict.fromkeys((f"cv2.{kind}_create", f"cv2.{kind}.create"), (kind, "an OpenCV object"))
    rows |= {f"cv2.create{kind}": (kind, "an OpenCV object") for kind in _MADE_BY_CREATE}
    readers = ("readNet", "readNetFromONNX", "readNetFromCaffe")
    rows |= {f"cv2.dnn.{reader}": ("dnn.Net", "an OpenCV network") for reader in readers}
    return {name: Refusal(what, instance(f"cv2.{kind}")) for name, (kind, what) in rows.items()}


LIBRARY = Library(
    openers={
        "cv2.VideoCapture": (
            Opener(
                "a video capture",
                "error",
                "reading a frame hangs, or fails with decoding errors",
                ends=frozenset({"release"}),
            ),
        ),
    },
    refusals=_refusals(),
    path_functions=frozenset({"imread", "imdecode", "VideoCapture"}),
    arrays={
        "cv2.imread": DECODED,
        "cv2.imdecode": DECODED,
        "cv2.VideoCapture().read": DECODED,
        # the frame, after whether there was one
        "cv2.VideoCapture().read[1]": DECODED,
        "cv2.cvtColor": Maker("numpy", "same"),
        "cv2.flip": Maker("numpy", "same"),
        "cv2.rotate": Maker("numpy", "same"),
        "cv2.resize": Maker("numpy", "other"),
    },
    # cv::theRNG, one generator per thread with a constant seed: 4 of 8 draws of cv2.randu were distinct with 2
    # workers, forked or spawned, and the same 4 in each epoch (5.0.0).
    own_draws=(
        OwnDraws(
            "OpenCV",
            "cv2.",
            "opencv",
            frozenset({"setRNGSeed"}),
            names=frozenset({"randu", "randn", "randShuffle"}),
            methods=None,
        ),
    ),
    unsplit_packages=frozenset({"cv2"}),
    words=Words(launching=(b"OPENCV_", b"setNumThreads"), in_workers=(b"cv2",)),
)
