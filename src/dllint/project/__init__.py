"""Links the facts of all files: names, values, calls, launches, loaders and datasets. The only thing that rules query."""
