"""scikit-learn 1.5 (scikit-learn.org/stable/modules/preprocessing.html, "train_test_split")."""

from dllint.libraries.facets import Library, Maker

_SCALERS = ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "Normalizer")

LIBRARY = Library(
    splits_arguments=frozenset({"sklearn.model_selection.train_test_split"}),
    # each value is scaled on its own
    arrays={
        f"sklearn.preprocessing.{scaler}().{method}": Maker("numpy", "same")
        for scaler in _SCALERS
        for method in ("transform", "fit_transform", "inverse_transform")
    },
)
