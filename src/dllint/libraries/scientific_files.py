"""Readers of scientific file formats: netCDF4, xarray, PyTables, rasterio, soundfile, plyvel, zarr 3.1, SciPy,
nibabel, imageio, scikit-image, tifffile, SimpleITK, librosa, soundfile, pydicom, pyfaidx, openslide, pyBigWig.

Results of four forked workers that each read 15,000 times through one handle of the parent, on Linux with two cores:
soundfile 0.14.0 9 % wrong in a WAV file, and `LibsndfileError` in nearly every read of a FLAC file; rasterio 1.4.4 0.6
% wrong; netCDF4 1.7.5 0.7 % wrong in a classic file, none in a netCDF-4 file; pysam 0.24.1 0.5 % wrong, and
`ValueError`.

The same with fewer reads: an array of a zarr group in a ZipStore 202 of 1,600 reads failed; a variable of a classic
netCDF file 8 of 16,000 wrong; tifffile 2026 120 of 8,000 pages wrong and 2,000 failures; pyfaidx 0.9 7 of 12,000
sequences wrong; a group of zarr 3.1.6 in a ZipStore 15 of 1,600 reads failed; openslide 4.0 none of 8,000 regions of
a tiled TIFF file wrong; pyBigWig 0.3.29 151 of 8,000 reads failed. A group of zarr 2.18.7 in an LMDBStore, 4 workers
with 2,000 reads each: with locks every worker raised `ReadersFullError` or `BadRslotError` (lmdb 1.7.3, 3.0.0; on 1.4.1
once the parent had read); without locks every worker of lmdb 1.7.3 crashed, and none of 1.4.1 and 3.0.0.
"""

import re

from dllint.libraries.facets import DECODED, UNREAD, Library, Maker, Opener, When
from dllint.libraries.io import READ_BY_POSITION
from dllint.libraries.pickling import CYTHON, POINTERS, Refusal, always, instance, local, stream
from dllint.screen import Words

_READ = Maker("numpy", "file")


def _unconverted(attributes: str) -> str:
    return f"TypeError: {attributes} cannot be converted to a Python object for pickling"


_INSIDE = ("", "[]", "[][]", "[][][]")
_ZARR = ("zarr.open", "zarr.open_group", "zarr.open_array")
_GROUPS = (*_ZARR, "zarr.group")

_DATASETS = ("open_dataset", "load_dataset", "open_mfdataset", "open_zarr")
_VARIABLES = (
    *(f"xarray.{opened}{variable}" for opened in _DATASETS for variable in ("[]()", "().get()", "().*")),
    *("xarray.open_dataarray()", "xarray.load_dataarray()"),
)
"""Variables of xarray: they are read when they are turned into an array."""
OF_ALL_VARIABLES = re.compile(
    r"\(\)\.(?:i?sel|load|compute|persist|chunk|transpose|squeeze|sortby|rename|fillna|astype|drop_vars|assign_coords)"
    r"(?=\(\)|\[|\Z)"
)
"""Calls of methods whose result has most of the data of a dataset or variable of xarray, in a name."""
COORDINATES = re.compile(
    r"(?:^|_)(?:x|y|lat|lon|latitude|longitude|time|timedelta|date|step|number|level|lev|plev|pressure|height|depth)s?$"
)
"""Names of variables that have one number for each position along an axis."""

_READS = When("mode", 1, "reads")
_ZIPPED = tuple(
    Opener(
        "a zarr group in a zip archive",
        "error",
        "reads raise `BadZipFile: Bad CRC-32`",
        parts=frozenset({"[]", "get"}),
        when=When("store", 0, f"{name}()"),
    )
    for name in ("zarr.storage.ZipStore", "zarr.ZipStore")
)
_LMDB = Opener(
    "a zarr group in an lmdb store with locks",
    "warning",
    "reads raise `ReadersFullError` or `BadRslotError`",
    parts=frozenset({"[]", "get"}),
)
_IN_LMDB = tuple(
    row
    for name in ("zarr.storage.LMDBStore", "zarr.LMDBStore")
    for row in (
        _LMDB._replace(harm="", when=When("store", 0, f"{name}()", made=When("lock", -1, "off"))),
        _LMDB._replace(when=When("store", 0, f"{name}()")),
    )
)
_STORES = (*_ZIPPED, *_IN_LMDB)
_SLIDES = ("openslide.OpenSlide", "openslide.open_slide")
_SEQUENCES = ("pyfaidx.Fasta", "pyfaidx.Faidx")
_FASTA = ("pysam.FastaFile", "pysam.Fastafile")

LIBRARY = Library(
    openers={
        **dict.fromkeys(_ZARR, (*_STORES, READ_BY_POSITION)),
        "zarr.group": _STORES,
        **dict.fromkeys(_SLIDES, (READ_BY_POSITION,)),
        "tifffile.TiffFile": (
            Opener("an open TIFF file", "error", "reads return wrong pages, or raise IndexError", when=_READS),
        ),
        **dict.fromkeys(_SEQUENCES, (Opener("an open FASTA file", "error", "reads return wrong sequences"),)),
        "soundfile.SoundFile": (
            Opener(
                "an open sound file", "error", "reads return wrong samples, or raise `LibsndfileError`", when=_READS
            ),
        ),
        "pyBigWig.open": (Opener("an open bigWig file", "error", "some reads raise RuntimeError", when=_READS),),
        "rasterio.open": (Opener("an open rasterio dataset", "error", "some reads return wrong pixels", when=_READS),),
        "netCDF4.Dataset": (
            Opener(
                "an open netCDF file",
                "warning",
                "reads of a classic netCDF file return wrong data",
                parts=frozenset({"[]"}),
                when=_READS,
            ),
        ),
        **dict.fromkeys(
            _FASTA, (Opener("an open FASTA file", "error", "reads return wrong sequences, or raise ValueError"),)
        ),
    },
    refusals={
        "netCDF4.Dataset": Refusal("an open netCDF file", always("NotImplementedError: Dataset is not picklable")),
        "netCDF4.Dataset[]": Refusal(
            "a variable of a netCDF file", always("NotImplementedError: Variable is not picklable")
        ),
        "tables.open_file": Refusal("an open PyTables file", local("WeakValueDictionary.__init__.<locals>.remove")),
        "rasterio.open": Refusal("an open rasterio dataset", always(_unconverted("self._hds"))),
        "plyvel.DB": Refusal("a LevelDB", always(_unconverted("self._db,self.options"))),
        **dict.fromkeys(_FASTA, Refusal("an open FASTA file", CYTHON)),
        **dict.fromkeys(_SLIDES, Refusal("an open slide", POINTERS)),
        "tifffile.TiffFile": Refusal("an open TIFF file", stream("BufferedReader")),
        **dict.fromkeys(_SEQUENCES, Refusal("an open FASTA file", stream("BufferedReader"))),
        "pyBigWig.open": Refusal("an open bigWig file", instance("pyBigWig.bigWigFile")),
        "soundfile.SoundFile": Refusal("an open sound file", instance("_cffi_backend.__CDataOwn")),
    },
    maps_itself=frozenset({"netCDF4.Dataset().variables", "netCDF4.Dataset().groups"}),
    arrays={
        # zarr 3.1: slicing an array reads it; groups can be nested
        **dict.fromkeys((f"{opened}{inside}[:]" for opened in _GROUPS for inside in _INSIDE), _READ),
        **dict.fromkeys(
            (f"{opened}{inside}" for opened in _GROUPS for inside in _INSIDE[1:]), _READ._replace(read=False)
        ),
        **dict.fromkeys(("zarr.load", "zarr.load[]", "scipy.io.loadmat", "scipy.sparse.load_npz"), _READ),
        # nibabel before 5.0 has `get_data`, too
        **dict.fromkeys(("nibabel.load().get_fdata", "nibabel.load().get_data"), _READ),
        **dict.fromkeys(
            (
                *("imageio.imread", "imageio.v2.imread", "imageio.v3.imread", "skimage.io.imread", "tifffile.imread"),
                *("matplotlib.pyplot.imread", "matplotlib.image.imread", "librosa.load", "soundfile.read"),
                *("scipy.io.wavfile.read", "librosa.core.load"),
                # Each returns the samples and the rate: librosa.load and soundfile.read in this order
                *("librosa.load[0]", "librosa.core.load[0]", "soundfile.read[0]", "scipy.io.wavfile.read[1]"),
            ),
            DECODED,
        ),
        "netCDF4.Dataset[][:]": _READ,
        **{f"{variable}.values": _READ for variable in _VARIABLES},
        "pydicom.dcmread().pixel_array": DECODED,
        "SimpleITK.ReadImage": UNREAD,
        **dict.fromkeys(("SimpleITK.GetArrayFromImage", "SimpleITK.GetArrayViewFromImage"), Maker("numpy", "other")),
        **dict.fromkeys(("skimage.transform.resize", "librosa.resample"), Maker("numpy", "other")),
        **dict.fromkeys(
            (
                *("librosa.stft", "librosa.cqt", "librosa.feature.melspectrogram", "librosa.feature.mfcc"),
                *("librosa.power_to_db", "librosa.amplitude_to_db", "librosa.effects.trim[0]"),
            ),
            Maker("numpy", "other", "y"),
        ),
        "librosa.util.normalize": Maker("numpy", "same"),
    },
    words=Words(
        nearby=(
            b"SoundFile(",
            b"rasterio.open",
            b"netCDF4",
            b"pysam",
            b"pyBigWig",
            b"TiffFile(",
            b"pyfaidx",
            b"openslide",
            b"ZipStore(",
        )
    ),
)
