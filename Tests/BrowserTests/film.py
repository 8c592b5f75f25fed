#!/usr/bin/env python3
"""Films a conversation: Ann in the web client, Ben in `parley chat` beside her, as an animated PNG.

    film.py FILE

PARLEY_EXECUTABLE and PARLEY_PAGE are as for run.py. Needs Debian's fonts-noto-color-emoji, for the reactions.
"""
import io
import os
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

from PIL import Image  # noqa: E402
from playwright.sync_api import expect  # noqa: E402

from harness.api import Api  # noqa: E402
from harness.chat import Chat  # noqa: E402
from harness.pictures import landscape  # noqa: E402
from harness.terminal import Terminal  # noqa: E402
from harness.world import World  # noqa: E402

# Of each screen, in pixels of a display with two for one.
SCALE, WIDTH, HEIGHT, GAP = 2, 440, 500, 8
# Milliseconds for which a picture stays.
KEY, BEAT, PAUSE = 110, 900, 2200


class Film:
    """The pictures so far, of both screens side by side."""

    def __init__(self, page, terminal):
        self.page, self.terminal, self.frames, self.times = page, terminal, [], []

    def shoot(self, time):
        left = Image.open(io.BytesIO(self.page.screenshot(animations="disabled", caret="initial"))).convert("RGB")
        width, height, gap = SCALE * WIDTH, SCALE * HEIGHT, SCALE * GAP
        frame = Image.new("RGB", (2 * width + gap, height), "#8a8f9c")
        frame.paste(left, (0, 0))
        frame.paste(self.terminal.picture(width, height, size=14 * SCALE), (width + gap, 0))
        if self.frames and frame.tobytes() == self.frames[-1].tobytes():
            self.times[-1] += time
            return
        self.frames.append(frame)
        self.times.append(time)

    def write(self, path):
        # One palette for all, so that what does not change costs nothing.
        palette = self.frames[-1].quantize(200)
        frames = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in self.frames]
        frames[0].save(path, save_all=True, append_images=frames[1:], duration=self.times, loop=0, optimize=True)


class Ann:
    def __init__(self, film, chat):
        self.film, self.chat = film, chat

    def writes(self, text):
        for end in range(3, len(text) + 3, 3):
            self.chat.box.press_sequentially(text[end - 3:end])
            self.film.shoot(KEY)
        self.chat.box.press("Enter")
        self.chat.expect_stored(text)
        self.film.terminal.expect(text.split(" ")[-1])
        self.film.shoot(BEAT)


class Ben:
    def __init__(self, film, chat):
        self.film, self.chat = film, chat

    def writes(self, text):
        for end in range(3, len(text) + 3, 3):
            self.film.terminal.type(text[end - 3:end])
            self.film.terminal.expect(text[:end][-3:].strip())
            if end == 3:
                expect(self.chat.role("status", "Typing")).to_have_text(re.compile("typing"))
            self.film.shoot(KEY)
        self.film.terminal.press("Enter")
        expect(self.chat.message(text)).to_be_visible()
        self.film.shoot(PAUSE)


def play(film, chat, cleo_picture):
    ann, ben = Ann(film, chat), Ben(film, chat)
    film.shoot(PAUSE)
    ann.writes("Morning! Are you at the garden?")
    ben.writes("On my way. Shall I bring the seeds?")
    chat.act("Shall I bring", "React")
    film.shoot(BEAT)
    chat.page.keyboard.press("Enter")
    film.shoot(PAUSE)
    ann.writes("Yes please, beans and mint")
    cleo_picture()
    expect(chat.log.get_by_role("button").filter(has=chat.page.locator("img")).first).to_be_visible()
    chat.page.wait_for_timeout(500)
    film.shoot(PAUSE)
    ben.writes("What a view. See you at six!")
    film.shoot(2 * PAUSE)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        node = World.node()
        ann, ben, cleo = (Api(node.port, name) for name in ("Ann Walker", "Ben Okafor", "Cleo Martin"))
        garden = ann.group("Roof garden", ben, cleo)
        ann.read(garden, cleo.send(garden, "I watered the tomatoes last night")["seq"])

        context = World.browser(is_whole=True).new_context(
            viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=SCALE, color_scheme="light",
            locale="en-GB")
        chat = Chat(context.new_page(), World.origin(node), ann).open().sign_in()
        chat.enter("Roof garden")
        executable = os.environ["PARLEY_EXECUTABLE"]
        terminal = Terminal(
            [executable, "chat", "--server", f"http://127.0.0.1:{node.port}", "--username", ben.username],
            {"XDG_DATA_HOME": tempfile.mkdtemp(prefix="parley-film-"), "TERM": "tmux-256color"}, columns=52, rows=26)
        World._started(terminal)
        terminal.expect(ben.username)
        terminal.type(ben.PASSWORD)
        terminal.press("Enter")
        terminal.expect("Roof garden")
        terminal.press("Enter")
        terminal.expect("Write a message")

        film = Film(chat.page, terminal)

        def picture():
            file = cleo.upload("evening.png", landscape(480, 240), "image/png")
            cleo.send(garden, payload={"attachments": [{"id": file}]})

        play(film, chat, picture)
        film.write(sys.argv[1])
        print(f"{len(film.frames)} pictures, {sum(film.times) / 1000:.0f} s, {os.path.getsize(sys.argv[1])} bytes")
    finally:
        World.end()


main()
