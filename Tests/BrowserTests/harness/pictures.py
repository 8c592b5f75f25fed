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
