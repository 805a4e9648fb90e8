"""Writes the generated pages of the site as reStructuredText: operators, the Python package, C++ headers."""
