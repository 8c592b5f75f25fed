"""Pictures and files: chosen, pasted, dropped, shown, and harmless."""
import base64
import re

from playwright.sync_api import expect

from harness.case import BrowserTest
from harness.chat import starting
from harness.pictures import gif, png
from harness.processes import eventually
from harness.world import World

# Puts a file into a DataTransfer, as the clipboard and a drag from another window have it.
TRANSFER = """([name, type, data]) => {
    const transfer = new DataTransfer();
    const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
    transfer.items.add(new File([bytes], name, {type}));
    return transfer;
}"""


class Files(BrowserTest):
    def setUp(self):
        super().setUp()
        self.ann, self.ben = self.account("Ann"), self.account("Ben")
        self.thread = self.ann.direct(self.ben)
        self.chat = self.signed_in(self.ann).enter("Ben")

    @property
    def to_send(self):
        return self.chat.role("list", "Files to send")

    def transfer(self, name, kind, data):
        return self.chat.page.evaluate_handle(TRANSFER, [name, kind, base64.b64encode(data).decode()])

    def choose(self, *files):
        with self.chat.page.expect_file_chooser() as chooser:
            self.chat.button("Attach files").click()
        chooser.value.set_files([{"name": name, "mimeType": kind, "buffer": data} for name, kind, data in files])

    def test_chosen_files_can_be_removed_and_are_sent_with_a_text(self):
        self.choose(("photo.png", "image/png", png(640, 400)), ("notes.txt", "text/plain", b"milk, bread"),
                    ("wrong.png", "image/png", png(20, 20)))
        for name in ("photo.png", "notes.txt", "wrong.png"):
            expect(self.to_send.get_by_text(name).first).to_be_visible()
        self.chat.button("Remove wrong.png").click()
        expect(self.chat.button("Remove wrong.png")).to_be_hidden()
        self.chat.send("look at this")
        self.chat.expect_stored("look at this")
        expect(self.to_send).to_be_hidden()

        ben = self.signed_in(self.ben).enter("Ann")
        message = ben.message("look at this")
        picture = message.get_by_role("img", name="photo.png")
        expect(picture).to_be_visible()
        self.assertTrue(picture.evaluate("image => image.decode().then(() => image.naturalWidth > 0)"))
        expect(message.get_by_role("link", name=starting("notes.txt"))).to_be_visible()
        message.get_by_role("button", name="Open photo.png").click()
        dialog = ben.dialog("photo.png")
        expect(dialog).to_be_visible()
        dialog.get_by_role("button", name="Close").click()
        expect(dialog).to_be_hidden()
        expect(message.get_by_role("button", name="Open photo.png")).to_be_focused()
        with ben.page.expect_download() as download:
            message.get_by_role("link", name=starting("notes.txt")).click()
        with open(download.value.path(), "rb") as file:
            self.assertEqual(file.read(), b"milk, bread")

    def test_a_pasted_picture_stands_in_the_list_and_is_sent_alone(self):
        data = self.transfer("pasted.png", "image/png", png(300, 200))
        self.chat.box.evaluate(
            "(box, clipboardData) => box.dispatchEvent(new ClipboardEvent('paste',"
            " {clipboardData, bubbles: true, cancelable: true}))", data)
        expect(self.chat.button("Remove pasted.png")).to_be_visible()
        self.chat.button("Send").click()
        expect(self.chat.messages.get_by_role("img", name="pasted.png")).to_be_visible()
        expect(self.chat.messages.last).to_have_attribute("data-seq", "1")
        stored = self.ben.messages(self.thread)[0]["payload"]["attachments"][0]
        self.assertEqual((stored["name"], stored["width"], stored["height"]), ("pasted.png", 300, 200))

    def test_a_file_is_dropped_anywhere_on_the_conversation(self):
        data = self.transfer("dropped.png", "image/png", png(100, 100))
        for kind in ("dragenter", "dragover", "drop"):
            self.chat.log.dispatch_event(kind, {"dataTransfer": data})
        expect(self.chat.button("Remove dropped.png")).to_be_visible()
        self.chat.send("dropped")
        expect(self.chat.message("dropped").get_by_role("img", name="dropped.png")).to_be_visible()

    def test_a_picture_takes_its_place_before_it_arrives(self):
        """Nothing moves when pictures load: their size is in the event."""
        for number in range(6):
            id = self.ann.upload(f"tall {number}.png", png(200, 600), "image/png")
            self.ann.send(self.thread, f"tall {number}", payload={"attachments": [{"id": id}]})
        ben = self.page(self.browser(), self.ben)
        ben.page.route("**/v1/attachments/**", lambda route: (ben.page.wait_for_timeout(300), route.continue_()))
        ben.open().sign_in().enter("Ann")
        expect(ben.message("tall 0")).to_be_visible()
        heights = ben.messages.evaluate_all("rows => rows.map((row) => row.offsetHeight)")
        ben.page.wait_for_timeout(2_500)
        self.assertEqual(ben.messages.evaluate_all("rows => rows.map((row) => row.offsetHeight)"), heights)


class Costs(BrowserTest):
    """What others send costs the reader little, and nothing after the reader has signed out."""

    def setUp(self):
        super().setUp()
        self.ann, self.ben = self.account("Ann"), self.account("Ben")
        self.thread = self.ann.direct(self.ben)

    def send(self, text, *files):
        ids = [self.ann.upload(f"{text} {number}", data, "image/gif") for number, data in enumerate(files)]
        for id in ids:
            eventually("the file to be checked",
                       lambda: self.ann.call("GET", f"/v1/attachments/{id}/info")["state"] == "ready")
        self.ann.send(self.thread, text, payload={"attachments": [{"id": id} for id in ids]})

    def load(self, chat, text):
        """Waits until all pictures of a message are decoded. Returns where they came from."""
        pictures = chat.message(text).get_by_role("img")
        expect(pictures.first).to_be_attached()
        return [picture.evaluate("image => (image.loading = 'eager', image.decode().then(() => image.src))")
                for picture in pictures.all()]

    def megabytes(self):
        """The memory of the largest tab."""
        session = self.chromium.new_browser_cdp_session()
        processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
        session.detach()
        sizes = []
        for process in processes:
            if process["type"] == "renderer":
                with open(f"/proc/{process['id']}/status") as file:
                    sizes += [int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS")]
        return max(sizes)

    def test_a_message_with_gifs_of_many_pixels_takes_little_memory(self):
        self.send("small", gif(100))
        chat = self.signed_in(self.ben).enter("Ann")
        # A small GIF moves where it stands.
        self.assertFalse([source for source in self.load(chat, "small") if source.endswith("thumbnail")])
        before = self.megabytes()
        self.send("large", *(gif(7000) for _ in range(4)))
        sources = self.load(chat, "large")
        self.assertEqual(len([source for source in sources if source.endswith("thumbnail")]), 4)
        # Four times 49 million pixels would take 800 MB.
        self.assertLess(self.megabytes() - before, 250)

    def test_after_signing_out_no_picture_is_left_in_the_cache(self):
        self.send("secret", png(300, 200))
        chat = self.signed_in(self.ben).enter("Ann")
        [source] = self.load(chat, "secret")
        cached = """async (source) => {
            try { return (await fetch(source, {cache: 'only-if-cached', mode: 'same-origin'})).status; } catch { return 0; }
        }"""
        self.assertEqual(chat.page.evaluate(cached, source), 200)
        chat.button("Settings").click()
        chat.dialog("Settings").get_by_role("button", name="Sign out", exact=True).click()
        expect(chat.role("form", "Sign in")).to_be_visible()
        self.assertIn(chat.page.evaluate(cached, source), (0, 504))


# Each would call `ran()` or another host if it were markup, a script or an address.
MARKUP = "<img src=x onerror=ran()><script>ran()</script>"
SCRIPT = "<script>top.ran?.();fetch('https://evil.example/ran')</script>"


class Hostile(BrowserTest):
    """Names, titles, texts and files that attack. `ran`, dialogs and requests to other hosts are noticed."""

    def watched(self, person):
        context = self.browser()
        context.expose_function("ran", lambda: self.mistakes.append("a script ran"))
        return self.page(context, person).open().sign_in()

    def test_markup_in_names_titles_texts_and_file_names_is_text(self):
        ann, ben = self.account("Ann"), self.account(f"Eve {MARKUP}")
        title = f"Title {MARKUP}"
        thread = ben.group(title, ann)
        file = ben.upload(f"file {MARKUP}.png", png(30, 30), "image/png")
        other = ben.upload("<b>x</b>.txt", b"x", "text/plain")
        ben.send(thread, f"text {MARKUP}", payload={"attachments": [{"id": file}, {"id": other}]})
        ben.send(thread, "**bold <b>x</b>** `<i>code</i>` > <u>quote</u>\n```\n<script>ran()</script>\n```")
        ben.call("PATCH", "/v1/users/me", {"status_text": MARKUP})
        chat = self.watched(ann)
        expect(chat.conversation("Title <img src=x")).to_be_visible()
        chat.conversation("Title <img src=x").click()
        expect(chat.message(f"text {MARKUP}")).to_contain_text(f"Eve {MARKUP}")
        # The server replaces slashes in file names.
        expect(chat.log.get_by_role("img", name=f"file {MARKUP}.png".replace("/", "_"))).to_be_visible()
        expect(chat.log.get_by_role("link", name=starting("<b>x<_b>.txt"))).to_be_visible()
        expect(chat.message("bold <b>x</b>")).to_contain_text("<script>ran()</script>")
        chat.button("New conversation").click()
        chat.dialog("New conversation").get_by_role("searchbox", name="Find people").fill(ben.username)
        expect(chat.dialog("New conversation").get_by_role("checkbox", name=starting("Eve <img"))).to_be_visible()
        chat.page.keyboard.press("Escape")
        chat.search.fill("Title")
        expect(chat.results.get_by_role("link").first).to_contain_text(title)
        self.assertEqual(chat.page.locator("script").count(), 1)
        self.assertEqual(chat.page.locator("img[src='x'], b, u").count(), 0)

    def test_addresses_that_run_are_no_links(self):
        ann, ben = self.account("Ann"), self.account("Ben")
        thread = ann.direct(ben)
        for text in ("javascript:ran()", "JaVaScRiPt:ran()", "java\tscript:ran()", "data:text/html,<script>ran()</script>",
                     "vbscript:ran()", "blob:x", "file:///etc/passwd", "[click](javascript:ran())",
                     "http://javascript:ran()@evil.example", "//evil.example", "https://ok.example/<script>ran()</script>"):
            ben.send(thread, f"see {text}")
        chat = self.watched(ann).enter("Ben")
        expect(chat.message("https://ok.example")).to_be_visible()
        for link in chat.messages.get_by_role("link").all():
            self.assertRegex(link.get_attribute("href"), r"^(https?|mailto):")

    def test_uploaded_pages_and_drawings_do_not_run(self):
        ann, ben = self.account("Ann"), self.account("Ben")
        thread = ann.direct(ben)
        svg = f"<svg xmlns='http://www.w3.org/2000/svg' onload='top.ran?.()'>{SCRIPT}</svg>"
        for name, kind, text in (("page.html", "text/html", f"<html><body>{SCRIPT}</body></html>"),
                                 ("drawing.svg", "image/svg+xml", svg), ("code.js", "text/javascript", "ran()"),
                                 ("fake.png", "image/png", f"<html>{SCRIPT}</html>")):
            ben.send(thread, name, payload={"attachments": [{"id": ben.upload(name, text.encode(), kind)}]})
        chat = self.watched(ann).enter("Ben")
        for name in ("page.html", "drawing.svg", "code.js", "fake.png"):
            message = chat.message(name)
            expect(message.get_by_role("img", name=name)).to_have_count(0)
            with chat.page.expect_download() as download:
                message.get_by_role("link", name=starting(name)).click()
            self.assertEqual(download.value.suggested_filename, name)
        chat.page.wait_for_timeout(500)
        self.assertEqual(len(chat.page.context.pages), 1)

    def test_pictures_at_other_hosts_are_not_loaded(self):
        ann, ben = self.account("Ann"), self.account("Ben")
        ben.call("PATCH", "/v1/users/me", {"profile_image": "https://evil.example/ben.png"})
        thread = ben.group("With a picture", ann)
        ben.call("PATCH", f"/v1/threads/{thread}", {"image": "https://evil.example/thread.png"})
        ben.direct(ann)
        ben.send(thread, "hello")
        chat = self.watched(ann).enter("With a picture")
        expect(chat.message("hello")).to_be_visible()
        expect(chat.conversation("Ben")).to_be_visible()
        sources = chat.page.locator("img").evaluate_all("images => images.map((image) => image.src)")
        self.assertFalse([source for source in sources if "evil" in source])

    def test_the_page_cannot_make_markup_of_text_at_all(self):
        chat = self.signed_in(self.account("Ann"))
        refused = chat.page.evaluate("""() => {
            const failures = [];
            for (const attempt of [
                () => { document.body.innerHTML = '<b></b>'; },
                () => document.body.insertAdjacentHTML('beforeend', '<b></b>'),
                () => document.write('<b></b>'),
                () => { document.createElement('script').src = '/x.js'; },
            ]) {
                try { attempt(); failures.push(String(attempt)); } catch { /* as it must be */ }
            }
            return failures;
        }""")
        self.assertEqual(refused, [])
        self.mistakes = [mistake for mistake in self.mistakes if not re.search("Trusted", mistake)]
