"""Speed, measured in Chromium. Runs alone, because other work on the machine would be measured, too."""
import concurrent.futures
import re
import statistics

from playwright.sync_api import expect

from harness.api import Api
from harness.case import BrowserTest
from harness.processes import eventually
from harness.world import World

MESSAGES = 10_000

# The aims are 200 ms to the first paint and no task over 100 ms. Their figures are printed; docs/performance.md has those
# of a quiet machine. The tests allow three times as much, because the machines of CI are shared.
PAINT_MAX, TASK_MAX = 600, 300

# Runs before the page's own scripts. Times are milliseconds since the navigation began.
WATCH = """
    globalThis.speed = {firstMessage: null, firstInbox: null, longTasks: []};
    new PerformanceObserver((list) => {
        for (const task of list.getEntries()) speed.longTasks.push([task.startTime, task.duration]);
    }).observe({type: 'longtask', buffered: true});
    const look = () => {
        // Called before a frame is painted: what is in the document now is on the screen next.
        speed.firstInbox ??= document.querySelector('nav a[href]') && performance.now();
        speed.firstMessage ??= document.querySelector('[role=log] article') && performance.now();
        if (!speed.firstMessage || !speed.firstInbox) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
"""


class LongConversation(BrowserTest):
    needs_whole_browser = True

    @classmethod
    def setUpClass(cls):
        port = World.node().port
        cls.ann, cls.ben = Api(port, "Ann"), Api(port, "Ben")
        cls.thread = cls.ann.group("Long", cls.ben)

        def send(part):
            sender = cls.ben.copy()
            for number in part:
                lines = "a line of text that is long enough to be wrapped on most screens. " * (number % 5)
                sender.send(cls.thread, f"message {number} {lines}")

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(send, [range(start, MESSAGES, 8) for start in range(8)]))
        cls.ann.read(cls.thread, cls.ann.messages(cls.thread)[-1]["seq"])

    def open(self):
        chat = self.signed_in(self.ann, viewport={"width": 1280, "height": 800}).enter("Long")
        expect(chat.messages.last).to_have_attribute("data-seq", re.compile(r"^\d+$"))
        return chat

    def test_first_paint_comes_from_the_cache(self):
        chat = self.open()
        chat.page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        chat.page.wait_for_timeout(1_000)
        chat.page.add_init_script(WATCH)
        inbox, messages = [], []
        for _ in range(7):
            chat.page.reload(wait_until="commit")
            # Not wait_for_function: it evaluates text in the page, which the page's policy forbids.
            times = eventually("the first paint", lambda: chat.page.evaluate(
                "speed.firstMessage && speed.firstInbox && speed"))
            inbox.append(times["firstInbox"])
            messages.append(times["firstMessage"])
            chat.page.wait_for_timeout(300)
        print(f"first paint of the cached inbox: {statistics.median(inbox):.0f} ms (median of 7, {min(inbox):.0f} to "
              f"{max(inbox):.0f}); of {MESSAGES} cached messages: {statistics.median(messages):.0f} ms "
              f"({min(messages):.0f} to {max(messages):.0f})")
        self.assertLess(statistics.median(messages), PAINT_MAX)

    def test_scrolling_has_short_tasks_and_few_rows_in_the_page(self):
        chat = self.open()
        chat.page.evaluate(WATCH)
        chat.log.hover()
        most, lowest = 0, MESSAGES
        for direction in (-1, 1):
            for step in range(120):
                chat.page.mouse.wheel(0, direction * 900)
                chat.page.wait_for_timeout(16)
                if step % 10 == 0:
                    most = max(most, chat.page.evaluate("document.querySelectorAll('*').length"))
                    lowest = min(lowest, int(chat.messages.first.get_attribute("data-seq")))
            chat.page.wait_for_timeout(500)
        tasks = [duration for _, duration in chat.page.evaluate("speed.longTasks")]
        rows = chat.messages.count()
        print(f"scrolled from {MESSAGES} up to {lowest} and back: {len(tasks)} tasks over 50 ms, the longest "
              f"{max(tasks, default=0):.0f} ms; at most {most} elements, {rows} messages in the page")
        self.assertLess(max(tasks, default=0), TASK_MAX)
        self.assertLess(rows, 400)
        self.assertLess(lowest, MESSAGES - 300)

    def test_a_jump_far_back_is_quick(self):
        chat = self.open()
        target = self.ann.call("GET", f"/v1/threads/{self.thread}/messages?after=99&limit=1")["messages"][0]
        began = chat.page.evaluate("performance.now()")
        chat.page.evaluate("(hash) => { location.hash = hash; }", f"#/t/{self.thread}/m/{target['id']}")
        expect(chat.log.locator(f"[data-id='{target['id']}']")).to_be_in_viewport()
        print(f"a jump over {MESSAGES - 100} messages: {chat.page.evaluate('performance.now()') - began:.0f} ms")
