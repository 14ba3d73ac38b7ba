"""Readers of scientific file formats: netCDF4, PyTables, rasterio, soundfile, plyvel, zarr 3.1, SciPy, nibabel,
pycocotools 2.0."""

from dllint.libraries.facets import Library, Maker
from dllint.libraries.io import READ_BY_POSITION
from dllint.libraries.pickling import Refusal, always, instance, local

_READ = Maker("numpy", "file")


def _unconverted(attributes: str) -> str:
    return f"TypeError: {attributes} cannot be converted to a Python object for pickling"


LIBRARY = Library(
    openers=dict.fromkeys(("zarr.open", "zarr.open_group", "zarr.open_array"), (READ_BY_POSITION,)),
    refusals={
        "netCDF4.Dataset": Refusal("an open netCDF file", always("NotImplementedError: Dataset is not picklable")),
        "tables.open_file": Refusal("an open PyTables file", local("WeakValueDictionary.__init__.<locals>.remove")),
        "rasterio.open": Refusal("an open rasterio dataset", always(_unconverted("self._hds"))),
        "plyvel.DB": Refusal("a LevelDB", always(_unconverted("self._db,self.options"))),
        "soundfile.SoundFile": Refusal("an open sound file", instance("_cffi_backend.__CDataOwn")),
    },
    # `COCO` keeps every annotation as a dict
    readers={"pycocotools.coco.COCO": "table"},
    arrays=dict.fromkeys(("scipy.io.loadmat", "scipy.sparse.load_npz", "nibabel.load().get_fdata"), _READ),
)
