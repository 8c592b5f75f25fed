"""Pictures with metadata, made by Pillow and exiftool, and a check of what a service kept of them.

    pictures.py make DIRECTORY         writes the pictures
    pictures.py check BEFORE AFTER     exit status 1 if a file of AFTER has metadata left or other pixels than in BEFORE
    pictures.py clean DIRECTORY        exit status 1 if a file has metadata
"""
import json
import os
import subprocess
import sys
from io import BytesIO

from PIL import Image, ImageCms, ImageDraw, ImageSequence, PngImagePlugin

SERIAL = "SERIAL-4711-0815"
PRIVATE = ["-GPSLatitude=52.516", "-GPSLatitudeRef=N", "-GPSLongitude=13.377", "-GPSLongitudeRef=E",
           f"-ExifIFD:SerialNumber={SERIAL}", f"-XMP-aux:SerialNumber={SERIAL}", "-XMP-exif:GPSLatitude=52.516",
           "-Make=Camera & Sons", "-Model=Eye 3000", "-Artist=Ann Example", "-XMP-dc:Creator=Ann Example"]
# exiftool's groups that describe the file itself, and the tags in them that would tell more.
HARMLESS_GROUPS = {"File", "System", "Composite", "JFIF", "Adobe", "PNG", "PNG-pHYs", "RIFF", "GIF", "ExifTool"}
PRIVATE_TAGS = ("GPS", "Serial", "Thumbnail", "Preview", "Comment", "Creator", "Artist", "Make", "Model", "Author",
                "Copyright", "XMP", "Trailer")
# What a picture needs of its EXIF.
EXIF_TAGS = {"Orientation", "XResolution", "YResolution", "ResolutionUnit", "YCbCrPositioning"}


def is_harmless(group, name):
    if group == "IFD0":
        return name in EXIF_TAGS
    return group.startswith("ICC") or group in HARMLESS_GROUPS and not name.startswith(PRIVATE_TAGS)


def picture(mode="RGB", size=(480, 320)):
    image = Image.linear_gradient("L").resize(size)
    image = Image.merge("RGB", (image, image.rotate(90), image.transpose(Image.FLIP_TOP_BOTTOM)))
    draw = ImageDraw.Draw(image)
    draw.rectangle((10, 10, 120, 60), fill=(200, 20, 20))
    draw.ellipse((200, 100, 400, 300), fill=(20, 200, 60))
    return image.convert(mode)


def make(directory):
    os.chdir(directory)
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        picture().save(f"orientation-{orientation}.jpg", exif=exif, quality=90)
    picture().save("icc.jpg", icc_profile=profile)
    picture("CMYK").save("cmyk.jpg")
    picture("L").save("grey.jpg")
    picture().save("progressive.jpg", progressive=True, icc_profile=profile, comment=b"A private comment")
    picture().save("icc.png", icc_profile=profile)
    picture("P").save("palette.png")
    Image.frombytes("I;16", (64, 64), bytes(i % 256 for i in range(64 * 64 * 2))).save("16-bit.png")
    texts = PngImagePlugin.PngInfo()
    texts.add_text("Comment", "A private comment")
    texts.add_itxt("Author", "Ann Example", zip=True)
    picture("RGBA").save("texts.png", pnginfo=texts)
    frames = [picture().rotate(angle) for angle in (0, 90, 180)]
    frames[0].save("animated.png", save_all=True, append_images=frames[1:], duration=100)
    frames[0].save("animated.gif", save_all=True, append_images=frames[1:], duration=100, comment=b"A private comment")
    frames[0].save("animated.webp", save_all=True, append_images=frames[1:], duration=100)
    picture().save("lossy.webp", icc_profile=profile)
    picture("RGBA").save("lossless.webp", lossless=True)
    rich = [name for name in sorted(os.listdir("."))]
    # exiftool 12 writes no WebP; Pillow does.
    by_exiftool = [name for name in rich if not name.endswith((".webp", ".gif"))]
    subprocess.run(["exiftool", "-q", "-m", "-overwrite_original", *PRIVATE, *by_exiftool], check=True)
    small = BytesIO()
    picture(size=(160, 107)).save(small, "JPEG")
    with open("preview", "wb") as file:
        file.write(small.getvalue())
    jpegs = [name for name in rich if name.endswith(".jpg")]
    subprocess.run(["exiftool", "-q", "-m", "-overwrite_original", "-ThumbnailImage<=preview", *jpegs], check=True)
    os.remove("preview")
    for name in ("lossy.webp", "animated.webp"):
        image = Image.open(name)
        exif = Image.Exif()
        exif[0x010f] = "Camera & Sons"
        exif.get_ifd(0x8769)[0xa431] = SERIAL
        exif.get_ifd(0x8825)[2] = (52.0, 30.0, 58.0)
        image.save("with-" + name, save_all=True, exif=exif, xmp=b"<x:xmpmeta xmlns:x='adobe:ns:meta/'/>", lossless=True)
    for name in ("orientation-3.jpg", "icc.png", "animated.gif"):
        with open(name, "rb") as file, open("trailer-" + name, "wb") as target:
            target.write(file.read() + b"\nA private trailer " + small.getvalue())
    # Without metadata, for tests of other things.
    for kind in ("jpg", "png", "webp", "gif"):
        picture(size=(48, 32)).save("small." + kind)


def leaks(directory):
    """The tags that exiftool finds although nobody should see them, and private texts in the bytes."""
    output = subprocess.run(["exiftool", "-json", "-G1", "-a", "-u", "-ee", directory], capture_output=True).stdout
    found = []
    for file in json.loads(output or b"[]"):
        path = file.pop("SourceFile")
        for tag, value in file.items():
            if not is_harmless(*tag.split(":")):
                found.append(f"{os.path.basename(path)}: {tag} = {str(value)[:60]}")
    for name in os.listdir(directory):
        with open(os.path.join(directory, name), "rb") as file:
            data = file.read()
        for text in (SERIAL.encode(), b"private", b"Ann Example", b"Camera & Sons", b"Photoshop", b"http://ns.adobe"):
            if text in data:
                found.append(f"{name} contains {text!r}")
    return found


def differences(before, after):
    found = []
    for name in sorted(os.listdir(after)):
        old, new = Image.open(os.path.join(before, name)), Image.open(os.path.join(after, name))
        if old.getexif().get(0x0112, 1) != new.getexif().get(0x0112, 1):
            found.append(f"{name}: another orientation")
        if old.info.get("icc_profile") != new.info.get("icc_profile"):
            found.append(f"{name}: another colour profile")
        for key in ("duration", "loop", "transparency", "gamma"):
            if old.info.get(key) != new.info.get(key):
                found.append(f"{name}: another {key}: {old.info.get(key)}, {new.info.get(key)}")
        frames = [[(f.mode, f.size, f.copy().tobytes()) for f in ImageSequence.Iterator(image)] for image in (old, new)]
        if frames[0] != frames[1]:
            found.append(f"{name}: other pixels")
    return found


def main():
    found = []
    if sys.argv[1] == "make":
        make(sys.argv[2])
    elif sys.argv[1] == "check":
        found = leaks(sys.argv[3]) + differences(sys.argv[2], sys.argv[3])
    else:
        found = leaks(sys.argv[2])
    if found:
        sys.exit("\n".join(found))


main()
