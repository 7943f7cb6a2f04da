"""The quantities, one module a subject. :mod:`py_core.quantity` imports them on first use."""
