"""Readers of scientific file formats: netCDF4, PyTables, rasterio, soundfile, plyvel, zarr 3.1, SciPy, nibabel,
pycocotools 2.0, imageio, scikit-image, tifffile, SimpleITK, librosa, soundfile, pydicom."""

from dllint.libraries.facets import DECODED, UNREAD, Library, Maker
from dllint.libraries.io import READ_BY_POSITION
from dllint.libraries.pickling import Refusal, always, instance, local

_READ = Maker("numpy", "file")


def _unconverted(attributes: str) -> str:
    return f"TypeError: {attributes} cannot be converted to a Python object for pickling"


_ZARR = ("zarr.open", "zarr.open_group", "zarr.open_array")

LIBRARY = Library(
    openers=dict.fromkeys(_ZARR, (READ_BY_POSITION,)),
    refusals={
        "netCDF4.Dataset": Refusal("an open netCDF file", always("NotImplementedError: Dataset is not picklable")),
        "tables.open_file": Refusal("an open PyTables file", local("WeakValueDictionary.__init__.<locals>.remove")),
        "rasterio.open": Refusal("an open rasterio dataset", always(_unconverted("self._hds"))),
        "plyvel.DB": Refusal("a LevelDB", always(_unconverted("self._db,self.options"))),
        "soundfile.SoundFile": Refusal("an open sound file", instance("_cffi_backend.__CDataOwn")),
    },
    # `COCO` keeps every annotation as a dict
    readers={"pycocotools.coco.COCO": "table"},
    arrays={
        # zarr 3.1: slicing an array reads it; groups nest
        **dict.fromkeys((f"{opened}{inside}[:]" for opened in _ZARR for inside in ("", "[]", "[][]")), _READ),
        **dict.fromkeys(
            ("zarr.load", "zarr.load[]", "scipy.io.loadmat", "scipy.sparse.load_npz", "nibabel.load().get_fdata"), _READ
        ),
        **dict.fromkeys(
            (
                *("imageio.imread", "imageio.v2.imread", "imageio.v3.imread", "skimage.io.imread", "tifffile.imread"),
                *("matplotlib.pyplot.imread", "matplotlib.image.imread", "librosa.load", "soundfile.read"),
                *("scipy.io.wavfile.read", "librosa.core.load"),
            ),
            DECODED,
        ),
        "pydicom.dcmread().pixel_array": DECODED,
        "SimpleITK.ReadImage": UNREAD,
        **dict.fromkeys(("SimpleITK.GetArrayFromImage", "SimpleITK.GetArrayViewFromImage"), Maker("numpy", "other")),
        **dict.fromkeys(("skimage.transform.resize", "librosa.resample"), Maker("numpy", "other")),
    },
)
