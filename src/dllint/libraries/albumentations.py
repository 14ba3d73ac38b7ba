"""albumentations 2.0 (albumentations.ai/docs), and albumentationsx, which is imported by the same name."""

from dllint.libraries.facets import Library
from dllint.screen import Words

_POOLED = (
    *("Resize", "LongestMaxSize", "SmallestMaxSize", "RandomScale", "Downscale", "Rotate", "ShiftScaleRotate"),
    *("Perspective", "ElasticTransform", "GridDistortion", "OpticalDistortion", "GaussianBlur", "MotionBlur"),
    *("ISONoise", "CLAHE", "HueSaturationValue", "ColorJitter", "ToGray", "Normalize", "ToFloat", "Sharpen"),
    *("Emboss", "Equalize", "RandomFog"),
)

LIBRARY = Library(
    # Those after which a process had more threads, by /proc, on an image of 1024 × 1024 pixels (albumentations 2.0.8,
    # OpenCV 5.0.0). Flips, crops, paddings, `Blur`, `RandomBrightnessContrast` and `CoarseDropout` started none.
    runs_opencv=frozenset(f"albumentations.{name}" for name in _POOLED),
    words=Words(nearby=(b"albumentations",)),
)
