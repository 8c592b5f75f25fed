"""Pictures without a library."""
import math
import struct
import zlib


def png(width, height, colour=(90, 120, 220)):
    """A picture of one colour with a diagonal line, so that a thumbnail shows something."""
    return encode(width, height, lambda x, y: (255, 255, 255) if abs(x * height - y * width) < height * 2 else colour)


def landscape(width, height):
    """A sun over hills in the evening."""
    def colour(x, y):
        u, v = x / width, y / height
        if v > 0.72 + 0.09 * math.sin(5 * u + 1):
            return (38, 62, 52)
        if v > 0.6 + 0.12 * math.sin(3.2 * u + 4):
            return (74, 96, 92)
        if (x - width * 0.68) ** 2 + (y - height * 0.46) ** 2 < (height * 0.11) ** 2:
            return (255, 236, 190)
        return tuple(int(a + (b - a) * v) for a, b in ((66, 255), (76, 150), (132, 92)))

    return encode(width, height, colour)


def encode(width, height, colour):
    """A PNG whose pixels are `colour(x, y)`."""
    rows = b"".join(b"\0" + b"".join(bytes(colour(x, y)) for x in range(width)) for y in range(height))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def gif(side):
    """A square GIF of one colour: 34 KB may have 49 million pixels."""
    bits, filled, out = 0, 0, bytearray()

    def emit(code, width):
        nonlocal bits, filled
        bits |= code << filled
        filled += width
        while filled >= 8:
            out.append(bits & 255)
            bits >>= 8
            filled -= 8

    # LZW: each code stands for a run that is one pixel longer than the one before, until the table is full.
    width, table, left, run = 3, 6, side * side, 1
    emit(4, width)
    while left:
        run = min(run, left)
        emit(0 if run == 1 else run + 4, width)
        left -= run
        if run > 1 and table < 4096:
            table += 1
            if table == 1 << width and width < 12:
                width += 1
        run = min(run + 1, 4091)
    emit(5, width)
    emit(0, 7)
    blocks = b"".join(bytes([len(part)]) + part for part in (out[at:at + 255] for at in range(0, len(out), 255)))
    return (b"GIF89a" + struct.pack("<HHBBB", side, side, 0x80, 0, 0) + bytes((90, 120, 220, 255, 255, 255))
            + b"\x2c" + struct.pack("<HHHHB", 0, 0, side, side, 0) + b"\2" + blocks + b"\0\x3b")
