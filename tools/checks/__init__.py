"""The checks of `./dev check`: each module has find(tree), which yields its Problems."""
