"""The language server: `dllint check` during editing. Needs pygls (`pip install "dllint[lsp]"`).

    editing.py   the documents open in the editor, and positions in its encoding
    analysis.py  checks those documents with their project: findings and code lenses
    standing.py  the part of its findings that stays valid after edits that need no new check
    moved.py     recognizes those edits: they move code without changing its facts
    answers.py   findings in terms of the protocol: diagnostics, code actions, hovers, lenses
    app.py       the connection: handles messages, and decides when to check again

Only `app` uses pygls. An edit is always computed from the server's own findings and for the text that they were found
in: a client's request only selects one of them, and its content is never applied as sent.
"""
