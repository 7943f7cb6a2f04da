"""The claims, one module a subject. :mod:`py_core.claims` imports them on first use."""
