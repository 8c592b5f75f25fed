"""A program in a terminal of tmux, and pictures of that terminal."""
import pathlib
import re
import shlex
import subprocess
import tempfile

from PIL import Image, ImageDraw, ImageFont

from .processes import eventually

FONTS = pathlib.Path("/usr/share/fonts/truetype")
# The only size that the font has.
EMOJI_SIZE = 109
# The sixteen colours of a terminal.
COLOURS = ["#1c1e26", "#e0556a", "#5fb37a", "#d9a441", "#5b8fe0", "#a877d6", "#45a8b5", "#d5d8e0",
           "#6f7585", "#f0788a", "#83cf9a", "#efc069", "#82adf0", "#c39ae8", "#6cc7d3", "#f4f5f8"]
PLAIN = {"ink": "#d5d8e0", "paper": "#1c1e26", "bold": False, "faint": False, "reverse": False}
CUBE = (0, 95, 135, 175, 215, 255)


class Terminal:
    """One program in a private tmux server, which ends with `end`."""

    def __init__(self, line, environment, columns, rows):
        self.columns, self.rows = columns, rows
        self.directory = tempfile.mkdtemp(prefix="parley-terminal-")
        words = " ".join(f"{name}={shlex.quote(value)}" for name, value in environment.items())
        self.tmux("new-session", "-d", "-x", str(columns), "-y", str(rows), f"{words} {shlex.join(line)}")

    def tmux(self, *words):
        line = ["tmux", "-u", "-S", f"{self.directory}/tmux", "-f", "/dev/null", *words]
        return subprocess.run(line, check=True, capture_output=True, text=True).stdout

    def end(self):
        self.tmux("kill-server")

    def press(self, *keys):
        self.tmux("send-keys", *keys)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def expect(self, text):
        eventually(f"“{text}” in the terminal", lambda: text in self.tmux("capture-pane", "-p"))

    def picture(self, width, height, size=14):
        """What the terminal shows, in a picture of this size."""
        fonts = {bold: ImageFont.truetype(str(FONTS / f"dejavu/DejaVuSansMono{'-Bold' if bold else ''}.ttf"), size)
                 for bold in (False, True)}
        image = Image.new("RGB", (width, height), PLAIN["paper"])
        draw = ImageDraw.Draw(image)
        across, down = width / self.columns, height / self.rows
        look = dict(PLAIN)
        for row, line in enumerate(self.tmux("capture-pane", "-e", "-p").split("\n")[:self.rows]):
            column = 0
            for codes, character in re.findall(r"\x1b\[([\d;]*)m|([^\x1b])", line):
                if not character:
                    look = changed(look, codes)
                    continue
                ink, paper = (look["paper"], look["ink"]) if look["reverse"] else (look["ink"], look["paper"])
                x, y = column * across, row * down
                if paper != PLAIN["paper"]:
                    draw.rectangle((x, y, x + across, y + down), fill=paper)
                if ord(character) >= 0x1F000:
                    picture = emoji(character).resize((round(2 * across) - 2,) * 2)
                    image.paste(picture, (round(x) + 1, round(y)), picture)
                    column += 1
                else:
                    draw.text((x, y), character, fill="#8a90a0" if look["faint"] else ink, font=fonts[look["bold"]])
                column += 1
        return image


def emoji(character):
    image = Image.new("RGBA", (136, 128))
    font = ImageFont.truetype(str(FONTS / "noto/NotoColorEmoji.ttf"), EMOJI_SIZE)
    ImageDraw.Draw(image).text((0, 0), character, font=font, embedded_color=True)
    return image


def changed(look, codes):
    """The look after an escape sequence of SGR."""
    look, numbers = dict(look), [int(code or 0) for code in codes.split(";")]
    while numbers:
        code = numbers.pop(0)
        if code == 0:
            look = dict(PLAIN)
        elif code in (38, 48):
            kind, name = numbers.pop(0), "ink" if code == 38 else "paper"
            look[name] = palette(numbers.pop(0)) if kind == 5 else "#%02x%02x%02x" % tuple(
                numbers.pop(0) for _ in range(3))
        elif code in (1, 2, 7, 22, 27):
            look |= {1: {"bold": True}, 2: {"faint": True}, 7: {"reverse": True}, 22: {"bold": False, "faint": False},
                     27: {"reverse": False}}[code]
        elif code in (39, 49):
            name = "ink" if code == 39 else "paper"
            look[name] = PLAIN[name]
        else:
            for first, name, bright in ((30, "ink", 0), (40, "paper", 0), (90, "ink", 8), (100, "paper", 8)):
                if first <= code < first + 8:
                    look[name] = COLOURS[code - first + bright]
    return look


def palette(number):
    """A colour of the 256."""
    if number < 16:
        return COLOURS[number]
    if number >= 232:
        return "#" + f"{8 + 10 * (number - 232):02x}" * 3
    number -= 16
    return "#%02x%02x%02x" % (CUBE[number // 36], CUBE[number // 6 % 6], CUBE[number % 6])
