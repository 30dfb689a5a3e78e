"""Pictures of few colours: small, and sharp."""

from PIL import Image  # of matplotlib, which requires it

COLOURS = 64


def compact(source, target):
    """Write a picture as a PNG with a palette."""
    with Image.open(source) as picture:
        few = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
        few.save(target, optimize=True)
