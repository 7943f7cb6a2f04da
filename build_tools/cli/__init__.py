"""``lesson``: the core at a terminal, for authors and for scripts.

    lesson params CONFIG.json       what a model's parameters add up to
    lesson value NAME --set k=v     one figure with its formula and inputs
    lesson values                   all figures by name
    lesson steps SCHEME             a collective, step by step, with its ledger
    lesson timeline                 the backward and its buckets on one time axis
    lesson claims                   which statements hold
    lesson numbers                  the figures of all pages, and where they stand
    lesson facts                    what papers printed, and which pages rest on it
    lesson check [FILE…]            what authors must mend in the pages
    lesson new NAME                 the skeleton of a lesson
    lesson nginx                    a host's configuration for the built site

A command returns an :class:`~build_tools.cli.shell.Answer`, a record and a way to read it;
only the shell prints. So nothing is printed before all is known, ``--json`` and plain
text cannot disagree, and bad input is one line on stderr with exit status 2.

Imports stand inside functions where a command can do without them: a script calls
``lesson`` many times and waits for each.
"""

from build_tools.cli import compute, hosts, pages, timeline
from build_tools.cli.shell import app

__all__ = ["app", "compute", "hosts", "pages", "timeline"]
