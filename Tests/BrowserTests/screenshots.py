#!/usr/bin/env python3
"""Takes pictures of the web client's main screens: light, dark, on a phone, and from right to left.

    screenshots.py FOLDER

PARLEY_EXECUTABLE and PARLEY_PAGE are as for run.py.
"""
import pathlib
import sys
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

from playwright.sync_api import Error, expect  # noqa: E402

from harness.api import Api  # noqa: E402
from harness.chat import Chat, starting  # noqa: E402
from harness.pictures import landscape  # noqa: E402
from harness.world import World  # noqa: E402

DESKTOP = {"viewport": {"width": 1200, "height": 760}}
PHONE = {"viewport": {"width": 390, "height": 780}, "has_touch": True, "device_scale_factor": 2}
LOOKS = {
    "light": {"color_scheme": "light", "locale": "en-GB", **DESKTOP},
    "dark": {"color_scheme": "dark", "locale": "en-GB", **DESKTOP},
    "phone": {"color_scheme": "light", "locale": "en-GB", **PHONE},
    "rtl": {"color_scheme": "light", "locale": "ar", **DESKTOP},
}


class Story:
    """An account with conversations that look like a week's use. Each look has its own."""

    def __init__(self, port, is_arabic):
        names = ["ليلى حداد", "عمر النجار", "سارة خليل", "يوسف منصور"] if is_arabic else \
            ["Ann Walker", "Ben Okafor", "Cleo Martin", "Dmitri Petrov"]
        self.ann, self.ben, self.cleo, self.dmitri = (Api(port, name) for name in names)
        self.garden_title = "حديقة السطح" if is_arabic else "Roof garden"
        self.fill(is_arabic)

    def fill(self, is_arabic):
        ann, ben, cleo, dmitri = self.ann, self.ben, self.cleo, self.dmitri
        garden = ann.group(self.garden_title, ben, cleo, dmitri)
        texts = [
            (ben, "صباح الخير! هل سقى أحد الطماطم أمس؟"), (cleo, "نعم، في المساء. التربة ما زالت رطبة 🌱"),
            (ann, "رائع، شكراً لكِ سارة"), (dmitri, "البذور وصلت اليوم: فاصولياء، بازلاء، و**نعناع**"),
            (ben, "سأبني صناديق جديدة يوم السبت، من يساعدني؟"), (ann, "أنا! أحضر معي المفك والقهوة ☕"),
        ] if is_arabic else [
            (ben, "Morning! Did anyone water the tomatoes yesterday?"),
            (cleo, "I did, in the evening. The soil is still damp 🌱"), (ann, "Lovely, thank you Cleo"),
            (dmitri, "The seeds came today: beans, peas and **mint**. The plan is at https://example.org/roof-garden"),
            (ben, "I'm building new boxes on Saturday, who helps?\n- bring a screwdriver\n- and an apron"),
            (ann, "Me! I'll bring both, and coffee ☕"),
        ]
        sent = [sender.send(garden, text) for sender, text in texts]
        for person, number, emoji in ((ann, 1, "❤️"), (dmitri, 1, "❤️"), (ben, 1, "👍"), (cleo, 5, "🎉"), (ben, 5, "🎉")):
            person.call("PUT", f"/v1/threads/{garden}/messages/{sent[number]['id']}/reactions/{urllib.parse.quote(emoji)}")
        picture = cleo.upload("evening on the roof.png", landscape(960, 600), "image/png")
        cleo.send(garden, "هكذا بدت الحديقة الليلة" if is_arabic else "This is what it looked like tonight",
                  payload={"attachments": [{"id": picture}]})
        cleo.send(garden, "من يريد أن يأتي غداً؟" if is_arabic else "Anyone up there tomorrow?", reply_to=sent[4]["id"])
        answer = ann.send(garden, "سأكون هناك بعد العمل" if is_arabic else "I'll be there after work")
        for reader in (ben, cleo):
            reader.read(garden, answer["seq"])
        others = [(ben, "هل لديك المفاتيح؟", "Do you have the keys for the shed?"),
                  (dmitri, "إلى اللقاء يوم الخميس", "See you on Thursday then")]
        for person, arabic, english in others:
            thread = ann.direct(person)
            person.send(thread, arabic if is_arabic else english)
        chess = cleo.group("شطرنج" if is_arabic else "Chess on Tuesdays", ann, dmitri, invite=True)
        cleo.send(chess, "…")
        team = dmitri.group("فريق الدراجات" if is_arabic else "Bicycle repair", ann, cleo)
        for number in range(12):
            dmitri.send(team, "قطع الغيار" if is_arabic else f"Part {number + 1} of the list")
        labels = ["الجيران", "الورشة"] if is_arabic else ["Neighbours", "Workshop"]
        ann.call("PATCH", f"/v1/threads/{garden}/settings", {"pinned": True, "labels": labels[:1]})
        ann.call("PATCH", f"/v1/threads/{team}/settings", {"labels": labels[1:]})


class Camera:
    def __init__(self, folder, look):
        self.folder, self.look, self.taken = folder, look, []
        self.is_arabic = look == "rtl"
        self.story = Story(World.node().port, self.is_arabic)
        self.context = World.browser(is_whole=True).new_context(**LOOKS[look])
        self.chat = Chat(self.context.new_page(), World.origin(World.node()), self.story.ann)
        self.page = self.chat.page

    def shoot(self, name):
        self.page.wait_for_timeout(500)
        self.page.screenshot(path=self.folder / f"{name}-{self.look}.png", animations="disabled", caret="initial")
        self.taken.append(name)

    def attempt(self, name, step):
        """Takes a picture after a step; says so if the step fails, and continues."""
        try:
            step()
            self.shoot(name)
        except (Error, AssertionError) as error:
            print(f"{self.look}: no picture of {name}: {str(error).splitlines()[0]}")
        self.page.keyboard.press("Escape")

    def take_all(self):
        page, chat = self.page, self.chat
        chat.open()
        expect(page.locator("form").first).to_be_visible()
        self.shoot("sign-in")
        # Inputs by their kind, because names are in another language.
        page.locator("form input").nth(0).fill(chat.person.username)
        page.locator("form input[type=password]").fill(chat.person.PASSWORD)
        page.keyboard.press("Enter")
        garden = page.get_by_role("navigation").get_by_role("link", name=starting(self.story.garden_title)).first
        expect(garden).to_be_visible()
        self.shoot("inbox")
        garden.click()
        # Nothing is under the mouse.
        page.mouse.move(1, 1)
        expect(page.get_by_role("article").last).to_be_visible()
        page.get_by_role("article").locator("img").last.evaluate(
            "image => image.complete || new Promise((done) => image.onload = done)")
        page.wait_for_timeout(800)
        self.shoot("conversation")
        if self.is_arabic:
            return
        self.attempt("menu", lambda: chat.open_menu("I'll be there after work"))
        self.attempt("reaction", lambda: chat.act("I'll be there after work", "React"))
        self.attempt("picture", lambda: chat.log.get_by_role("button", name=starting("Open evening")).click())
        if chat.button("Back to conversations").is_visible():
            chat.button("Back to conversations").click()
        for name in ("New conversation", "Join a room", "Settings"):
            self.attempt(name.lower().replace(" ", "-"), chat.button(name).click)
        self.attempt("search", lambda: (chat.search.fill("roof"), expect(chat.results).to_be_visible()))
        chat.search.fill("")
        self.attempt("invitation", lambda: (chat.conversation("Chess on Tuesdays").click(),
                                            expect(chat.button("Accept")).to_be_visible()))
        if chat.button("Back to conversations").is_visible():
            chat.button("Back to conversations").click()
        self.attempt("unread", lambda: (chat.conversation("Bicycle repair").click(),
                                        expect(chat.log.get_by_role("separator", name="New messages")).to_be_visible()))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for look in LOOKS:
            camera = Camera(folder, look)
            camera.take_all()
            camera.context.close()
            print(f"{look}: {', '.join(camera.taken)}", flush=True)
    finally:
        World.end()


main()
