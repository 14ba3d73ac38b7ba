"""albumentations 2.0 (albumentations.ai/docs), and albumentationsx, which is imported by the same name."""

from dllint.libraries.facets import Library, OwnDraws
from dllint.screen import Words

_POOLED = (
    *("Resize", "LongestMaxSize", "SmallestMaxSize", "RandomScale", "Downscale", "Rotate", "ShiftScaleRotate"),
    *("Perspective", "ElasticTransform", "GridDistortion", "OpticalDistortion", "GaussianBlur", "MotionBlur"),
    *("ISONoise", "CLAHE", "HueSaturationValue", "ColorJitter", "ToGray", "Normalize", "ToFloat", "Sharpen"),
    *("Emboss", "Equalize", "RandomFog"),
    # Not measured: they call `cv2.resize` and `cv2.warpAffine` like the ones above.
    *("RandomResizedCrop", "RandomSizedCrop", "RandomSizedBBoxSafeCrop", "Affine", "SafeRotate"),
)

_RANDOM = (
    *(
        "HorizontalFlip",
        "VerticalFlip",
        "Transpose",
        "D4",
        "SquareSymmetry",
        "Rotate",
        "SafeRotate",
        "ShiftScaleRotate",
    ),
    *("Affine", "Perspective", "ElasticTransform", "GridDistortion", "OpticalDistortion", "ThinPlateSpline"),
    *("ColorJitter", "HueSaturationValue", "RGBShift", "ChannelShuffle", "ChannelDropout", "GaussNoise", "ISONoise"),
    *("MultiplicativeNoise", "GaussianBlur", "MotionBlur", "MedianBlur", "Blur", "CoarseDropout", "GridDropout"),
    *(
        "PixelDropout",
        "ImageCompression",
        "Downscale",
        "CropNonEmptyMaskIfExists",
        "OneOf",
        "SomeOf",
        "BBoxSafeRandomCrop",
    ),
)

# albumentations/core/transforms_interface.py: `__call__` draws parameters and applies the transform to each target.
_CALLED = {
    "__call__": (
        *("apply", "apply_to_images", "apply_to_mask", "apply_to_masks", "apply_to_bbox", "apply_to_bboxes"),
        *("apply_to_keypoint", "apply_to_keypoints", "get_params", "get_params_dependent_on_targets"),
        *("get_params_dependent_on_data", "update_params"),
    )
}

LIBRARY = Library(
    runs_methods=dict.fromkeys(("albumentations.", "albumentations.core.transforms_interface."), _CALLED),
    # Transforms after which /proc showed more threads in the process, on an image of 1024 × 1024 pixels (albumentations
    # 2.0.8, OpenCV 5.0.0). Flips, crops, paddings, `Blur`, `RandomBrightnessContrast` and `CoarseDropout` started none.
    runs_opencv=frozenset(f"albumentations.{name}" for name in _POOLED),
    # BasicTransform and Compose call `numpy.random.default_rng(seed)` when constructed. With 2 workers, forked or
    # spawned, 4 of 8 draws were distinct in 1.4.24 and 2.0.8, the same 4 in each epoch; 1.4.17 and 1.4.20 drew from
    # `random`, which torch seeds: 8 of 8. 2.0.8 is the last version of this name.
    own_draws=(
        OwnDraws(
            "albumentations",
            "albumentations.",
            "albumentations",
            frozenset({"set_random_seed", "set_random_state"}),
            names=frozenset(_RANDOM),
            beginnings=("Random",),
            since=(1, 4, 24),
            until=(2, 0, 8),
        ),
    ),
    words=Words(nearby=(b"albumentations",)),
)
