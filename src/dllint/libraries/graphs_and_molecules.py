"""Graphs of networkx 3 (networkx.org, "Reference") and molecules of RDKit 2024 (rdkit.org, "Chem.rdmolfiles module").

Both are objects of many parts, which count references.
"""

from dllint.libraries.facets import Library

LIBRARY = Library(
    makes_records=frozenset(
        {
            *(f"networkx.{kind}" for kind in ("Graph", "DiGraph", "MultiGraph", "MultiDiGraph")),
            *(
                f"rdkit.Chem.MolFrom{form}"
                for form in ("Smiles", "MolBlock", "MolFile", "PDBBlock", "PDBFile", "Smarts")
            ),
        }
    ),
)
