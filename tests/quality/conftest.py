"""The slower gates drive the same browser as the tests do."""

from tests.browser.conftest import *  # noqa: F403
