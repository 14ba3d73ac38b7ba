"""imgaug 0.4.0 (imgaug.readthedocs.io; `imgaug/augmenters/meta.py`, `imgaug/random.py`)."""

from dllint.libraries.facets import Generator, Library, OwnDraws
from dllint.screen import Words

_ALWAYS = (
    *("AdditiveGaussianNoise", "AdditiveLaplaceNoise", "AdditivePoissonNoise", "Dropout", "Dropout2d", "CoarseDropout"),
    *("ImpulseNoise", "SaltAndPepper", "CoarseSaltAndPepper", "Salt", "Pepper", "Cutout", "ElasticTransformation"),
    *("PiecewiseAffine", "PerspectiveTransform", "OneOf", "SomeOf", "RandAugment", "ChannelShuffle", "Jigsaw"),
    *("Rain", "Snowflakes", "Clouds", "Fog", "Superpixels", "CropToFixedSize", "BlendAlphaSimplexNoise"),
)
_RANGED = (
    *("Add", "AddElementwise", "AddToBrightness", "AddToHue", "AddToHueAndSaturation", "AddToSaturation", "Affine"),
    *("Multiply", "MultiplyElementwise", "MultiplyBrightness", "MultiplyHue", "MultiplyHueAndSaturation"),
    *("MultiplySaturation", "MultiplyAndAddToBrightness", "GaussianBlur", "AverageBlur", "MedianBlur", "MotionBlur"),
    *("Fliplr", "Flipud", "Rot90", "Rotate", "ShearX", "ShearY", "ScaleX", "ScaleY", "TranslateX", "TranslateY"),
    *("Crop", "Pad", "CropAndPad", "Sharpen", "Emboss", "EdgeDetect", "Grayscale", "Invert", "Solarize", "Posterize"),
    *("LinearContrast", "GammaContrast", "SigmoidContrast", "LogContrast", "CLAHE", "JpegCompression", "Sometimes"),
    *("ChangeColorTemperature", "BilateralBlur"),
)
_POOLED = (
    *("Affine", "Rotate", "ShearX", "ShearY", "ScaleX", "ScaleY", "TranslateX", "TranslateY", "PerspectiveTransform"),
    *("ElasticTransformation", "Crop", "Pad", "CropAndPad", "GaussianBlur", "BilateralBlur", "Superpixels", "Invert"),
    *("AddToHue", "AddToBrightness", "AddToSaturation", "AddToHueAndSaturation", "MultiplyHue", "MultiplySaturation"),
    *("MultiplyHueAndSaturation", "MultiplyBrightness", "MultiplyAndAddToBrightness", "Grayscale", "CLAHE", "Add"),
    *("Multiply", "HistogramEqualization", "LinearContrast", "GammaContrast", "CoarseDropout"),
    "UniformColorQuantization",
)

LIBRARY = Library(
    # Augmenters after which /proc showed more threads in the process, on an image of 1024 × 1024 pixels (OpenCV 4.11).
    # `Fliplr`, `Sharpen`, `MedianBlur`, `Dropout`, `PiecewiseAffine` and `CropToFixedSize` started none; `Resize` did,
    # which depends on its size.
    runs_opencv=frozenset(f"imgaug.augmenters.{name}" for name in _POOLED),
    applies_opencv=("augment",),
    # Every augmenter keeps an imgaug.random.RNG over a NumPy generator. With 2 workers, forked or spawned, 3 of 8 draws
    # were distinct, the same 3 in each epoch.
    own_draws=(
        OwnDraws(
            "imgaug",
            "imgaug.augmenters.",
            "imgaug",
            frozenset({"seed", "seed_", "reseed"}),
            names=frozenset(_ALWAYS),
            ranged=frozenset(_RANGED),
            joining=frozenset({"Sequential"}),
            methods=("augment", "to_deterministic", "draw_grid"),
        ),
    ),
    # imgaug/random.py: an RNG keeps a NumPy generator; `RNG(RNG(…))` shares it
    generators={
        "imgaug.random.RNG": Generator(
            "RNG", "imgaug_rng", frozenset({"state", "set_state_", "set_state_of_", "use_state_of_", "reset_cache_"})
        )
    },
    words=Words(in_workers=(b"imgaug",)),
)
