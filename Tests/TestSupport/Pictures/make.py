#!/usr/bin/env python3
"""Writes pictures of many kinds, full of metadata: make.py DIRECTORY WIDTH HEIGHT

Needs Debian's python3-pil and libimage-exiftool-perl. Every text of the metadata has the word SECRET in it, except in the
colour profile, which stays.
"""
import os
import struct
import subprocess
import sys
import zlib

from PIL import Image, ImageCms, ImageDraw, PngImagePlugin

SECRET = "SECRET-4711"
XMP = f'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" dc:source="{SECRET}"/></rdf:RDF></x:xmpmeta>'.encode()
PROFILE = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
SIZE = (int(sys.argv[2]), int(sys.argv[3]))

os.chdir(sys.argv[1])


def scene(mode="RGB", shift=0):
    """A picture without symmetry, so that each orientation differs."""
    image = Image.radial_gradient("L").resize(SIZE).convert("RGB")
    pen = ImageDraw.Draw(image)
    width, height = SIZE
    pen.rectangle((5 + shift, 5, width // 2 + shift, height // 3), fill=(200, 30, 40))
    pen.ellipse((width // 2, height // 2 + shift, width, height + shift), fill=(20, 60, 220))
    if mode.endswith("A"):
        image = image.convert("RGBA")
        image.putalpha(Image.linear_gradient("L").resize(SIZE))
    return image if image.mode == mode else image.convert(mode)


def exif(orientation):
    """EXIF with a place, serial numbers, maker note and texts."""
    data = Image.Exif()
    data[0x0112] = orientation
    data[0x010E] = data[0x010F] = data[0x013B] = SECRET
    data[0x8769] = {0xA431: SECRET, 0xA435: SECRET, 0x927C: SECRET.encode() * 20, 0x9286: SECRET.encode()}
    data[0x8825] = {1: "N", 2: (52.0, 31.0, 12.0), 3: "E", 4: (13.0, 24.0, 18.0)}
    return data.tobytes()


def exiftool(*arguments):
    subprocess.run(["exiftool", "-q", "-q", "-m", "-overwrite_original", *arguments], check=True)


def jpegs():
    scene().resize((60, 40)).save("thumbnail.jpg")
    for orientation in range(1, 9):
        scene().save(f"orientation{orientation}.jpg", exif=exif(orientation), icc_profile=PROFILE, quality=90)
    scene("CMYK").save("cmyk.jpg", exif=exif(6), icc_profile=PROFILE)
    scene("L").save("gray.jpg", exif=exif(3), dpi=(300, 300))
    scene().save("progressive.jpg", progressive=True, exif=exif(8), subsampling=0, comment=SECRET)
    scene().save("big_profile.jpg", exif=exif(1), icc_profile=PROFILE + bytes(n * n >> 5 & 255 for n in range(150_000)))
    scene().save("multi_picture.jpg", format="MPO", save_all=True, append_images=[scene(shift=9)], exif=exif(5))
    names = [name for name in os.listdir() if name.endswith(".jpg") and name != "thumbnail.jpg"]
    exiftool(
        "-ThumbnailImage<=thumbnail.jpg", "-GPSAltitude=34", f"-SerialNumber={SECRET}", f"-XMP-dc:Creator={SECRET}",
        f"-IPTC:Keywords={SECRET}", f"-Comment={SECRET}", f"-Photoshop:URL=http://{SECRET}", *names)
    os.remove("thumbnail.jpg")
    plain = open("orientation6.jpg", "rb").read()
    with open("followed.jpg", "wb") as file:
        file.write(plain + b"PK\3\4" + SECRET.encode() + plain)
    with open("previews.jpg", "wb") as file:
        preview = bytes(range(64)) * 3
        file.write(
            b"\xff\xd8" + segment(0xE0, b"JFIF\0\1\1\0\0\1\0\1\x08\x08" + preview) + segment(0xE0, b"JFXX\0\x10" + preview)
            + b"\xff\xff" + segment(0xE5, SECRET.encode()) + segment(0xFE, b"<html><script>" + SECRET.encode()) + plain[2:])


def segment(code, content):
    return struct.pack(">BBH", 0xFF, code, len(content) + 2) + content


def png_chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def raw_png(path, colour, depth, interlaced):
    """What Pillow cannot write: 16 bits a colour, and Adam7."""
    channels = {0: 1, 2: 3, 4: 2, 6: 4}[colour]
    width, height = 33, 21

    def row(columns, y):
        out = bytearray([0])
        for x in columns:
            for channel in range(channels):
                value = (x * 7 + y * 13 + channel * 71) * 257 % 65536
                out += struct.pack(">H", value) if depth == 16 else bytes([value >> 8])
        return bytes(out)

    passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    data = b"".join(
        row(range(x0, width, dx), y)
        for x0, y0, dx, dy in (passes if interlaced else [(0, 0, 1, 1)])
        for y in range(y0, height, dy))
    with open(path, "wb") as file:
        file.write(
            b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlaced))
            + png_chunk(b"gAMA", struct.pack(">I", 45455)) + png_chunk(b"prVt", SECRET.encode())
            + png_chunk(b"IDAT", zlib.compress(data)) + png_chunk(b"tIME", b"\x07\xea\x0b\x17\4\0\0") + png_chunk(b"IEND", b"")
            + SECRET.encode())


def pngs():
    info = PngImagePlugin.PngInfo()
    info.add_text("Comment", SECRET)
    info.add_text("Author", SECRET * 40, zip=True)
    info.add_itxt("XML:com.adobe.xmp", XMP.decode())
    for orientation in range(1, 9):
        scene().save(f"orientation{orientation}.png", exif=exif(orientation), icc_profile=PROFILE, pnginfo=info, dpi=(96, 96))
    scene("RGBA").save("alpha.png", pnginfo=info)
    scene("LA").save("gray_alpha.png", exif=exif(7))
    scene("I").point(lambda v: v * 256).convert("I;16").save("gray16.png", exif=exif(6))
    scene("P").save("palette.png", transparency=3, pnginfo=info, bits=8)
    scene("1").save("one_bit.png", pnginfo=info)
    scene().save(
        "animated.png", save_all=True, append_images=[scene(shift=n) for n in (4, 8)], duration=[40, 60, 80], loop=2,
        default_image=False, pnginfo=info)
    raw_png("rgb16.png", 2, 16, 0)
    raw_png("interlaced.png", 6, 8, 1)
    raw_png("interlaced16.png", 0, 16, 1)
    exiftool(
        "-GPSLatitude=52.5", "-GPSLatitudeRef=N", f"-XMP-dc:Creator={SECRET}", f"-IPTC:Keywords={SECRET}",
        *(f"orientation{n}.png" for n in range(1, 9)))


def gifs():
    scene("P").save("still.gif", comment=SECRET.encode(), transparency=scene("P").getpixel((0, 0)))
    frames = [scene("P", shift) for shift in (3, 6, 9)]
    scene("P").save(
        "animated.gif", save_all=True, append_images=frames, duration=70, loop=3, comment=SECRET.encode(), disposal=2)
    scene("P").save("once.gif", save_all=True, append_images=frames, duration=20, interlace=1)
    exiftool(f"-XMP-dc:Creator={SECRET}", f"-Comment={SECRET}", "still.gif", "animated.gif", "once.gif")


def webps():
    for orientation in range(1, 9):
        scene().save(
            f"orientation{orientation}.webp", exif=exif(orientation), xmp=XMP, icc_profile=PROFILE,
            lossless=orientation % 2 == 0)
    scene().save("simple.webp")
    scene("RGBA").save("alpha.webp", exif=exif(3), exact=True)
    scene("RGBA").save("alpha_lossless.webp", lossless=True, xmp=XMP)
    scene("RGBA").save(
        "animated.webp", save_all=True, append_images=[scene("RGBA", n) for n in (5, 10)], duration=[30, 40, 50], loop=4,
        exif=exif(1), xmp=XMP, icc_profile=PROFILE, background=(1, 2, 3, 4))
    simple = open("simple.webp", "rb").read()
    with open("followed.webp", "wb") as file:
        file.write(simple + SECRET.encode())


jpegs()
pngs()
gifs()
webps()
