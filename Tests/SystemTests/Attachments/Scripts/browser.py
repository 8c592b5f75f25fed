"""Opens hostile files of a service in Chromium, in every way that a page can, and prints what ran.

Reads {sink, origin, token, picture, files: [{name, type, content, url}]} from standard input. Prints
{ran: [...], control: [...], picture, pictureAfterLogout}: what ran of the service's files, what ran of the same files
from a server without any protection, and the width of a picture by the media cookie, before and after its session ended.
"""
import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from playwright.sync_api import Error, sync_playwright

plan = json.load(sys.stdin)
sink = f"http://127.0.0.1:{plan['sink']}"
hits = []


class Sink(BaseHTTPRequestHandler):
    """Records each request, and serves the files without protection below /careless/."""

    def do_GET(self):
        name = self.path.removeprefix("/careless/")
        file = next((file for file in plan["files"] if file["name"] == name), None)
        # Requests of these files have a path of their own, because some come after their page was closed.
        body = file["content"].replace("SINK", f"{sink}/control/{name}").encode() if file else b""
        if not file and self.path != "/favicon.ico":
            hits.append(self.path)
        self.send_response(200)
        self.send_header("Content-Type", file["type"] if file else "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Access-Control-Allow-Origin", "*")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Visit:
    """A page of its own, which records dialogs."""

    def __init__(self, browser):
        self.page = browser.new_page()
        self.dialogs = []
        self.page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))
        hits.clear()

    def open(self, url):
        try:
            self.page.goto(url, wait_until="commit", timeout=30_000)
        except Error as error:
            # A download, or a refusal, is no page.
            if "Download is starting" not in str(error) and "ERR_ABORTED" not in str(error):
                raise

    def embed(self, markup):
        """Shows the markup in a page of the service's origin."""
        self.page.route(plan["origin"] + "/embedding", lambda route: route.fulfill(
            content_type="text/html", body=f"<title>quiet</title><body>{markup}</body>"))
        self.open(plan["origin"] + "/embedding")

    def has_called(self, control):
        """Whether this careless file, or a file of the service, called the sink or opened a dialog."""
        calls = (hit.startswith(f"/control/{control}/") if control else not hit.startswith("/control/") for hit in hits)
        return any(calls) or bool(self.dialogs)

    def end(self, seconds, control=None):
        """Whether anything ran within this time."""
        end = time.monotonic() + seconds
        while not self.has_called(control) and time.monotonic() < end:
            self.page.wait_for_timeout(50)
        ran = self.has_called(control) or self.page.title() == "ran"
        self.page.close()
        return ran


# Every way in which a page can use a file, at once. Nothing here waits for another.
EMBEDDINGS = """<iframe src='{0}'></iframe><object data='{0}'></object><embed src='{0}'><img src='{0}'>
<link rel=stylesheet href='{0}'><script async src='{0}'></script><script type=module src='{0}'></script>
<script>new Worker('{0}')</script><audio src='{0}' preload=auto></audio>"""


def visit_all(browser, seconds):
    ran = []
    for file in plan["files"]:
        page, embedding = Visit(browser), Visit(browser)
        page.open(file["url"])
        if page.end(seconds):
            ran.append(f"{file['name']} as a page")
        embedding.embed(EMBEDDINGS.format(file["url"]))
        if embedding.end(seconds):
            ran.append(f"{file['name']} embedded in a page")
    return ran


def control(browser):
    """What ran of the careless server's files, and the longest time that this took."""
    ran, slowest = [], 0
    for name in ("page.html", "drawing.svg", "code.js"):
        visit = Visit(browser)
        url = f"{sink}/careless/{name}"
        began = time.monotonic()
        if name == "code.js":
            visit.embed(EMBEDDINGS.format(url))
        else:
            visit.open(url)
        if visit.end(20, name):
            ran.append(name)
        slowest = max(slowest, time.monotonic() - began)
    return ran, slowest


def picture_width(page):
    return page.evaluate(
        """path => new Promise(done => {
            const image = new Image();
            image.onload = () => done(image.naturalWidth);
            image.onerror = () => done(0);
            image.src = path;
            document.body.append(image);
        })""", plan["picture"])


def pictures(browser):
    page = browser.new_page()
    page.route(plan["origin"] + "/page", lambda route: route.fulfill(content_type="text/html", body="<body></body>"))
    page.goto(plan["origin"] + "/page")
    call = """([path, token]) => fetch(path, {method: 'POST', headers: {Authorization: 'Bearer ' + token}})
        .then(answer => answer.status)"""
    page.evaluate(call, ["/v1/sessions/current/media-cookie", plan["token"]])
    before = picture_width(page)
    page.evaluate(call, ["/v1/auth/logout", plan["token"]])
    # Another context has no cache.
    state = page.context.storage_state()
    other = browser.new_context(storage_state=state).new_page()
    other.route(plan["origin"] + "/page", lambda route: route.fulfill(content_type="text/html", body="<body></body>"))
    other.goto(plan["origin"] + "/page")
    return before, picture_width(other)


def main():
    server = ThreadingHTTPServer(("127.0.0.1", plan["sink"]), Sink)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as playwright:
        # Root needs the first. The second lets pages made by `route` reach the sink on this machine.
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium",
            args=["--no-sandbox", "--disable-features=LocalNetworkAccessChecks"])
        ran, slowest = control(browser)
        # What ran of a careless server's files has had the time to run of the service's, too.
        result = {"control": ran, "ran": visit_all(browser, max(0.5, 2 * slowest))}
        result["picture"], result["pictureAfterLogout"] = pictures(browser)
        browser.close()
    print(json.dumps(result))


main()
