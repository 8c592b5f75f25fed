#!/usr/bin/env python3
"""Makes pictures of all kinds with Pillow, and compares thumbnails with what Pillow makes of the same pictures.

pictures.py make DIRECTORY      writes the pictures
pictures.py compare DIRECTORY   compares each NAME.thumbnail in DIRECTORY with the picture NAME. Prints one line for each:
                                NAME FORMAT WIDTH HEIGHT DIFFERENCE, where DIFFERENCE is the mean difference of a channel
                                (0 to 255), colours drawn on grey; -1 if the sizes differ
pictures.py bombs DIRECTORY     writes small files that are large when they are decoded
"""
import pathlib
import struct
import sys
import zlib

from PIL import Image, ImageChops, ImageDraw, ImageOps, ImageStat


def scene(width, height, mode="RGB"):
    """A picture without any symmetry: gradients, and a block of another colour in three corners."""
    red = Image.linear_gradient("L").rotate(90).resize((width, height))
    green = Image.linear_gradient("L").resize((width, height))
    blue = Image.radial_gradient("L").resize((width, height))
    picture = Image.merge("RGB", (red, green, blue))
    draw = ImageDraw.Draw(picture)
    draw.rectangle((0, 0, width // 4, height // 4), (255, 0, 0))
    draw.rectangle((3 * width // 4, 0, width, height // 4), (0, 255, 0))
    draw.rectangle((0, 3 * height // 4, width // 4, height), (0, 0, 255))
    if mode in ("RGBA", "LA"):
        picture.putalpha(Image.linear_gradient("L").transpose(Image.Transpose.ROTATE_180).resize((width, height)))
    return picture.convert(mode)


def oriented(value):
    exif = Image.Exif()
    exif[0x0112] = value
    return exif


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, depth, colour, data, *chunks, interlaced=0):
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlaced)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + b"".join(chunks) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def png_of_16_bits(picture):
    rows = [picture.crop((0, y, picture.width, y + 1)).tobytes() for y in range(picture.height)]
    # Each sample twice: 0xab becomes 0xabab.
    data = b"".join(b"\0" + bytes(b for sample in row for b in (sample, sample)) for row in rows)
    return png(*picture.size, 16, 2, zlib.compress(data))


def interlaced_png(picture):
    """Adam7: seven smaller pictures."""
    data = b""
    pixels = picture.load()
    for left, top, dx, dy in ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)):
        for y in range(top, picture.height, dy):
            data += b"\0" + bytes(sample for x in range(left, picture.width, dx) for sample in pixels[x, y])
    return png(*picture.size, 8, 2, zlib.compress(data), interlaced=1)


def make(directory):
    def save(name, picture, **options):
        picture.save(directory / name, **options)

    for value in range(1, 9):
        save(f"orientation-{value}.jpg", scene(900, 600), quality=95, exif=oriented(value))
    save("orientation-6.png", scene(300, 200), exif=oriented(6))
    save("orientation-8.webp", scene(300, 200), quality=95, exif=oriented(8))
    save("progressive.jpg", scene(1300, 1000), quality=95, progressive=True)
    save("grey.jpg", scene(800, 1200, "L"), quality=95)
    save("cmyk.jpg", scene(800, 700).convert("CMYK"), quality=95)
    save("sampling-4-4-4.jpg", scene(801, 701), quality=95, subsampling=0)
    save("exact.jpg", scene(640, 400), quality=95)
    save("small.jpg", scene(210, 117), quality=95)
    save("pixel.png", Image.new("RGB", (1, 1), (10, 200, 30)))
    save("narrow.png", scene(3, 3000))
    save("flat.png", scene(5000, 2))
    save("colour.png", scene(1111, 777))
    save("alpha.png", scene(1111, 777, "RGBA"))
    save("grey-alpha.png", scene(700, 300, "LA"))
    save("grey.png", scene(700, 300, "L"))
    save("one-bit.png", scene(1500, 900).convert("1", dither=Image.Dither.NONE))
    save("palette.png", scene(700, 900).quantize(200))
    transparent = scene(700, 900).quantize(200)
    save("palette-transparent.png", transparent, transparency=transparent.getpixel((690, 890)))
    (directory / "deep.png").write_bytes(png_of_16_bits(scene(700, 500)))
    (directory / "interlaced.png").write_bytes(interlaced_png(scene(133, 91)))
    frames = [scene(500, 400), Image.new("RGB", (500, 400), "white"), Image.new("RGB", (500, 400), "black")]
    save("animated.png", frames[0], save_all=True, append_images=frames[1:], duration=100)
    save("animated.webp", frames[0], save_all=True, append_images=frames[1:], duration=100, quality=95)
    save("animated.gif", frames[0], save_all=True, append_images=frames[1:], duration=100)
    clear = [frame.convert("RGBA") for frame in frames]
    clear[0] = scene(500, 400, "RGBA")
    save("animated-alpha.webp", clear[0], save_all=True, append_images=clear[1:], duration=100, lossless=True)
    save("animated-lossy-alpha.webp", clear[0], save_all=True, append_images=clear[1:], duration=100, quality=95)
    save("lossy.webp", scene(1000, 801), quality=95)
    save("lossless.webp", scene(1000, 801), lossless=True)
    save("alpha.webp", scene(1000, 801, "RGBA"), quality=95)
    save("colour.gif", scene(900, 700).quantize(256), interlace=0)
    save("interlaced.gif", scene(333, 227).quantize(256), interlace=1)
    save("two-colours.gif", scene(900, 700).convert("1", dither=Image.Dither.NONE))
    save("transparent.gif", transparent, transparency=transparent.getpixel((690, 890)))
    part = bytearray((directory / "two-colours.gif").read_bytes())
    # A screen larger than its frame.
    part[6:10] = struct.pack("<HH", 1000, 800)
    (directory / "part.gif").write_bytes(part)


def reference(path):
    picture = Image.open(path)
    picture.seek(0)
    if path.name == "part.gif":
        # Pillow fills the rest of the screen with the first colour.
        frame = Image.open(path.with_name("two-colours.gif")).convert("RGBA")
        picture = Image.new("RGBA", (1000, 800))
        picture.paste(frame)
    picture = ImageOps.exif_transpose(picture)
    longer = max(picture.size)
    size = picture.size
    if longer > 640:
        size = tuple(max(1, (side * 640 + longer // 2) // longer) for side in size)
    # Pillow scales with premultiplied alpha only in this mode.
    return picture.convert("RGBA").convert("RGBa").resize(size, Image.Resampling.BOX).convert("RGBA")


def on_grey(picture):
    return Image.alpha_composite(Image.new("RGBA", picture.size, (128, 128, 128)), picture.convert("RGBA"))


def compare(directory):
    for path in sorted(directory.glob("*.thumbnail")):
        thumbnail = Image.open(path)
        expected = reference(path.with_suffix(""))
        difference = -1.0
        if expected.size == thumbnail.size:
            shown = ImageChops.difference(on_grey(expected), on_grey(thumbnail)).convert("RGB")
            alpha = ImageChops.difference(expected.getchannel("A"), thumbnail.convert("RGBA").getchannel("A"))
            difference = max(ImageStat.Stat(shown).mean + ImageStat.Stat(alpha).mean)
        print(path.stem, thumbnail.format, *thumbnail.size, f"{difference:.2f}")


def compressed_zeros(byte_count):
    packer = zlib.compressobj(9)
    block = bytes(1 << 20)
    parts = [packer.compress(block) for _ in range(byte_count >> 20)]
    return b"".join(parts) + packer.compress(bytes(byte_count & (1 << 20) - 1)) + packer.flush()


def bombs(directory):
    (directory / "60000.png").write_bytes(png(60_000, 60_000, 1, 0, compressed_zeros(60_000 * 7_501)))
    # As large as a picture may be.
    (directory / "limit.png").write_bytes(png(7_071, 7_071, 8, 6, compressed_zeros(7_071 * (7_071 * 4 + 1))))
    (directory / "short.png").write_bytes(png(7_071, 7_071, 8, 6, zlib.compress(b"")))
    profile = chunk(b"iCCP", b"p\0\0" + compressed_zeros(300 << 20))
    rows = zlib.compress(b"".join(b"\0" + bytes(300) for _ in range(100)))
    (directory / "profile.png").write_bytes(png(100, 100, 8, 2, rows, profile))
    text = chunk(b"zTXt", b"t\0\0" + compressed_zeros(300 << 20))
    (directory / "text.png").write_bytes(png(100, 100, 8, 2, rows, *[text] * 20))

    scene(64, 64).save(directory / "small.jpg")
    large = bytearray((directory / "small.jpg").read_bytes())
    frame = large.index(b"\xff\xc0")
    large[frame + 5:frame + 9] = struct.pack(">HH", 65_500, 65_500)
    (directory / "65500.jpg").write_bytes(large)

    # A picture of 49 megapixels with the last scan 20,000 times.
    scene(64, 64).save(directory / "small.jpg", progressive=True, subsampling=0)
    scans = bytearray((directory / "small.jpg").read_bytes())
    frame = scans.index(b"\xff\xc2")
    scans[frame + 5:frame + 9] = struct.pack(">HH", 7_000, 7_000)
    last = scans.rindex(b"\xff\xda")
    (directory / "scans.jpg").write_bytes(scans[:-2] + scans[last:-2] * 20_000 + scans[-2:])
    (directory / "small.jpg").unlink()

    scene(30, 20).save(directory / "one.gif")
    gif = (directory / "one.gif").read_bytes()
    # The header and its table of colours, then the one frame, then the end mark.
    start = 13 + 3 * (2 << (gif[10] & 7))
    (directory / "10000.gif").write_bytes(gif[:start] + gif[start:-1] * 10_000 + gif[-1:])
    (directory / "one.gif").unlink()
    (directory / "65535.gif").write_bytes(b"GIF89a" + struct.pack("<HH", 65_535, 65_535) + gif[10:])
    webp = bytearray(b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\x02\0\0\0" + b"\xff" * 6)
    (directory / "16777216.webp").write_bytes(webp)


{"make": make, "compare": compare, "bombs": bombs}[sys.argv[1]](pathlib.Path(sys.argv[2]))
