"""Turns the declarative edits of a finding into text: the single source of `--fix`, `--diff` and fixes in reports.

text.py         text edits, line ends, applying edits
parser.py       text → libcst's tree, with room for deep ones
tree.py         one parsed source, with its nodes by position
arguments.py    SetArgument, RemoveArgument
statements.py   InsertStatement
imports.py      AddImport
expressions.py  ReplaceExpression, ReplaceString
names.py        the names that code binds and uses
hoist.py        HoistFunction
guard.py        GuardStatements
sources.py      texts before and after text edits
resolve.py      a fix → text edits; ReplaceComment
passes.py       many findings → new texts; repeated until nothing changes
diff.py         new texts → diffs
write.py        new texts → files, written completely or not at all
"""
