"""The abstract interpreter: the values of expressions, the call graph, and the conditions on reaching a place."""
