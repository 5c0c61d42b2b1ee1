"""Sphinx configuration."""

from toprank import __version__

project = "toprank"
author = "the toprank developers"
copyright = "2026, the toprank developers"
release = version = __version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
]
autosummary_generate = True
autosummary_ignore_module_all = False  # a page for each name of `__all__`, and for no other
templates_path = ["_templates"]
autodoc_typehints = "none"  # the docstrings say it in words
numpydoc_show_class_members = False
myst_enable_extensions = ["dollarmath", "colon_fence"]
exclude_patterns = ["_build", "_templates", "gallery"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "toprank"
# The same source always gives the same page.
html_last_updated_fmt = None
suppress_warnings = ["myst.header"]
