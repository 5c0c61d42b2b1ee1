"""Sphinx configuration."""

import sys

from docutils.nodes import SkipNode, Text, literal, tgroup
from latex2mathml.converter import convert
from sphinx.pycode import ModuleAnalyzer

import toprank
from toprank import __version__

# Networks have their pages where PyTorch is not installed, too: to read them takes none.
toprank._ABSENT = frozenset()

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
html_static_path = ["_static"]
html_css_files = ["toprank.css"]
# The same source always gives the same page.
html_last_updated_fmt = None
suppress_warnings = ["myst.header"]


# -- formulas ---------------------------------------------------------------------------------


def write_formula(translator, node):
    """As MathML, which browsers draw themselves: no script, nothing fetched, formulas without a network."""
    display = "block" if node.tagname == "math_block" else "inline"
    translator.body.append(convert(node.astext(), display=display))
    raise SkipNode


html_math_renderer = "mathml"


# -- figures ----------------------------------------------------------------------------------


def keep_together(app, doctree, page):
    """In tables 31 % and 0.561 ± 0.005 stay in one line; with many columns the error goes to the next."""
    for group in doctree.findall(tgroup):
        glued = "\u00a0±\u00a0" if group["cols"] < 8 else " ±\u00a0"
        for text in [*group.findall(Text)]:
            together = text.replace(" ± ", glued).replace(" %", "\u00a0%")
            if together != text and not isinstance(text.parent, literal):
                text.parent.replace(text, Text(together))


# -- values and types -------------------------------------------------------------------------


def words_at_home(app, what, name, value, options, lines):
    """What is written below a value where it is defined, not what Python says of its type."""
    package, _, short = name.rpartition(".")
    if what != "data" or not package.startswith("toprank"):
        return
    for module in sorted(other for other in sys.modules if other.startswith(package)):
        written = ModuleAnalyzer.for_module(module).find_attr_docs().get(("", short))
        if written and getattr(sys.modules[module], short, None) is value:
            lines[:] = [*written, "", *(line for line in lines if line.startswith("alias of"))]
            return


def setup(app):
    """Register the writer of formulas, and what keeps figures and their words together."""
    app.connect("doctree-resolved", keep_together)
    app.connect("autodoc-process-docstring", words_at_home)
    app.add_html_math_renderer(html_math_renderer, (write_formula, None), (write_formula, None))
