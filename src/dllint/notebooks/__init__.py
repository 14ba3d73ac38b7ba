"""Jupyter notebooks: their code cells as one Python text, and new texts written back into their cells.

    document.py  the JSON document: locates the source of each cell, and replaces it
    magics.py    IPython syntax that is not Python
    texts.py     the cells as Python texts; maps places of a text to cells

Terms: a *masked* line is not Python (`%matplotlib inline`, `!ls`, `loader?`); the text has `pass` instead, so that line
numbers do not change, and no fix changes it. A cell that begins with `%%writefile data.py` becomes a text of its own,
at a path below that of the notebook, where imports in other files that the notebook writes find it. Cells count from 1,
including prose cells, as in "Cell 3 of 10" of Jupyter and VS Code.
"""

from __future__ import annotations

from dllint.notebooks.document import SUFFIX as SUFFIX
from dllint.notebooks.document import Cell as Cell
from dllint.notebooks.document import NotANotebook as NotANotebook
from dllint.notebooks.document import is_notebook as is_notebook
from dllint.notebooks.texts import MARK as MARK
from dllint.notebooks.texts import CannotPlace as CannotPlace
from dllint.notebooks.texts import CellText as CellText
from dllint.notebooks.texts import InCell as InCell
from dllint.notebooks.texts import Notebook as Notebook
from dllint.notebooks.texts import of_cells as of_cells
from dllint.notebooks.texts import read as read
from dllint.notebooks.texts import with_texts as with_texts
