"""Search, in Chinese and in the field's English terms."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect


@pytest.mark.parametrize(
    ("words", "section"),
    [
        ("环", "ring-twice"),
        ("分桶", "buckets"),
        ("桶", "buckets"),
        ("归约散发", "ring-idea"),
        ("掉队者", "questions"),
        ("梯度累积", "questions"),
        ("reduce-scatter", "ring-idea"),
        ("NVLink", "one-step"),
    ],
)
def test_search_finds_the_section(page: Page, origin: str, words: str, section: str) -> None:
    page.goto(origin + "/")
    page.locator("[data-md-component=search-query]").click()
    page.keyboard.insert_text(words)
    page.keyboard.press("ArrowRight")  # the theme listens to keys, not to input
    found = page.locator(f'[data-md-component=search-result] a[href$="#{section}"]')
    expect(found.first).to_be_attached()
