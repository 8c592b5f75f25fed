#!/usr/bin/env python3
"""Compares the pictures of two directories by name, as Pillow decodes them, and prints each difference."""
import os
import sys

from PIL import Image, ImageOps, ImageSequence


def facts(path):
    with Image.open(path) as image:
        yield "format", (image.format.replace("MPO", "JPEG"), image.mode, image.size)
        yield "profile", image.info.get("icc_profile")
        # A JPEG's density is in jfif_density; "dpi" is Pillow's guess.
        yield "dpi", image.info.get("dpi") if image.format == "PNG" else None
        for key in ("gamma", "transparency", "loop", "background", "adobe", "adobe_transform", "jfif", "jfif_density"):
            yield key, image.info.get(key)
        yield "orientation", image.getexif().get(0x0112, 1)
        turned = ImageOps.exif_transpose(image)
        yield "displayed", (turned.size, turned.tobytes())
        # A multi-picture file is its first picture.
        frames = [image] if image.format == "MPO" else ImageSequence.Iterator(image)
        for number, frame in enumerate(frames):
            yield f"frame {number}", (frame.mode, frame.size, frame.info.get("duration"), frame.tobytes(), frame.getpalette())


before, after = sys.argv[1:3]
for name in sorted(os.listdir(before)):
    first, second = (dict(facts(os.path.join(directory, name))) for directory in (before, after))
    for key in first.keys() | second.keys():
        if first.get(key) != second.get(key):
            print(f"{name}: {key} differs: {str(first.get(key))[:80]} -> {str(second.get(key))[:80]}")
