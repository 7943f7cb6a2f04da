"""The slower gates share the browser of the ordinary tests."""

from tests.browser.conftest import browser, context, origin, page, watch

__all__ = ["browser", "context", "origin", "page", "watch"]
