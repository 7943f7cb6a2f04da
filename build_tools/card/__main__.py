"""``python -m build_tools.card``: what ``make card`` runs."""

from build_tools.card import take

take()
