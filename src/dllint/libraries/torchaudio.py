"""torchaudio (docs.pytorch.org/audio): each call returns a new tensor, `load` a new tensor and its sampling rate."""

from dllint.libraries.facets import Library

LIBRARY = Library(
    new_tensors=frozenset(
        {
            *("torchaudio.load", "torchaudio.load[0]", "torchaudio.functional.resample"),
            *(f"torchaudio.compliance.kaldi.{name}" for name in ("fbank", "mfcc", "spectrogram")),
            *(
                f"torchaudio.transforms.{name}()"
                for name in (
                    *("Resample", "Spectrogram", "MelSpectrogram", "MFCC", "LFCC", "AmplitudeToDB", "MelScale"),
                )
            ),
        }
    ),
)
