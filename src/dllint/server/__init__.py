"""The language server: `dllint check` while somebody edits. Needs pygls (`pip install "dllint[lsp]"`).

editing.py   the documents that the editor holds, and positions in the encoding that it asked for
analysis.py  a check of those documents with their project: findings, and what lenses say
standing.py  what remains of its findings after edits that it need not be run again for
moved.py     which edits those are: they move what the file says, and change nothing of it
answers.py   findings as the protocol has them: diagnostics, code actions, hovers, lenses
app.py       the connection: which message does what, and when a check runs again

Only `app` talks to pygls. An edit is always made from the server's own findings and for the text that they were found
in: what a client sends back names one of them and is never carried out as it stands.
"""
