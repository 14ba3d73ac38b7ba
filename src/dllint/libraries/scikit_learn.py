"""scikit-learn 1.5 (scikit-learn.org/stable/modules/preprocessing.html)."""

from dllint.libraries.facets import Library, Maker

_SCALERS = ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "Normalizer")

LIBRARY = Library(
    # each value is scaled on its own
    arrays={
        f"sklearn.preprocessing.{scaler}().{method}": Maker("numpy", "same")
        for scaler in _SCALERS
        for method in ("transform", "fit_transform", "inverse_transform")
    },
)
