"""The abstract interpreter: what an expression can be, who calls a function, under which condition."""
