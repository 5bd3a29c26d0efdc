"""How the documentation is built, by ``make docs``; neither that nor its pages need a network."""

from __future__ import annotations

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "xorverify"
author = "The xorverify developers"
version = release = installed_version("xorverify")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "generated_pages",
    "mathml",
    "offline",
    "plain_docstrings",
]
exclude_patterns = ["figures", "witnesses"]

html_theme = "furo"
html_title = "xorverify"
html_static_path = ["static"]
html_css_files = ["formulas.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False

smartquotes = False  # two hyphens are an option of a command
# Indented blocks of the pages are formulas and shell commands.
highlight_language = "none"
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

# The notebooks are text: without stored outputs they are run whenever their page is built.
nb_execution_mode = "auto"
nb_execution_timeout = 60
nb_execution_raise_on_error = True
nb_execution_show_tb = True

# `name` in a docstring is often a parameter or a symbol, for which a link would mislead.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_rtype = False
