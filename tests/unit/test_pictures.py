"""Pictures in the documentation: each is shown, described, and small."""

import re
import struct
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PICTURES = sorted((ROOT / "contrib").rglob("*.png"))
LARGEST = 150_000  # octets
WIDEST = 1400
WITH_PALETTE = 3  # the colour type of PNG


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.name)
def test_a_picture_is_shown_by_a_page_that_says_what_it_shows(picture):
    shown = [
        said
        for page in (ROOT / "README.md", *(ROOT / "contrib").rglob("*.md"))
        for said, link in re.findall(r"!\[(.*?)\]\((\S+?\.png)\)", page.read_text())
        if (page.parent / link).resolve() == picture
    ]
    assert shown
    assert all(len(said.split()) > 3 for said in shown)


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.name)
def test_a_picture_is_small_and_no_wider_than_a_page(picture):
    octets = picture.read_bytes()
    assert octets.startswith(b"\x89PNG\r\n\x1a\n")
    width, _, _, colours = struct.unpack(">IIBB", octets[16:26])
    assert colours == WITH_PALETTE
    assert width <= WIDEST
    assert len(octets) <= LARGEST
