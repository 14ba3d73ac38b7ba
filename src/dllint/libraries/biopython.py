"""Biopython 1.85 (biopython.org, "Bio.SeqIO")."""

from dllint.libraries.facets import Library

LIBRARY = Library(readers={"Bio.SeqIO.parse": "records"})
