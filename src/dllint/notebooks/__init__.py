"""Jupyter notebooks: their code cells as one Python text, and new texts back into their cells.

document.py  the JSON document: where the source of each cell stands, and new sources in its place
magics.py    what IPython understands and Python does not
texts.py     the cells as Python texts; places of a text by cell

Terms: a *masked* line is one that is no Python (`%matplotlib inline`, `!ls`, `loader?`); the text has `pass` there, so
that no line moves, and no fix changes it. A cell that begins with `%%writefile data.py` is a text of its own, at a path
below that of the notebook, where the imports of other files that the notebook writes find it. Cells count from 1, those
with prose too, as in "Cell 3 of 10" of Jupyter and VS Code.
"""

from __future__ import annotations

from dllint.notebooks.document import SUFFIX as SUFFIX
from dllint.notebooks.document import Cell as Cell
from dllint.notebooks.document import NotANotebook as NotANotebook
from dllint.notebooks.texts import MARK as MARK
from dllint.notebooks.texts import CannotPlace as CannotPlace
from dllint.notebooks.texts import CellText as CellText
from dllint.notebooks.texts import InCell as InCell
from dllint.notebooks.texts import Notebook as Notebook
from dllint.notebooks.texts import of_cells as of_cells
from dllint.notebooks.texts import read as read
from dllint.notebooks.texts import with_texts as with_texts
