// The service worker: keeps the page's files so that it opens offline, and shows alerts. It never sees the session.
//
// The server puts a line before this file: `self.parleyShell = {version, files}`, the files of this version.

// The types of the checker are those of pages.
const worker = /** @type {any} */ (self);
/** @type {{version: string, files: string[]}} */
const shell = worker.parleyShell;
const cacheName = 'parley-' + shell.version;

worker.addEventListener('install', (/** @type {any} */ event) => event.waitUntil(keepShell()));
worker.addEventListener('activate', (/** @type {any} */ event) => event.waitUntil(begin()));
worker.addEventListener('fetch', (/** @type {any} */ event) => {
    const url = new URL(event.request.url);
    if (event.request.method !== 'GET' || url.origin !== location.origin) return;
    if (url.pathname === '/') event.respondWith(firstPage(event));
    else if (url.pathname.endsWith('/manifest.webmanifest')) event.respondWith(manifest(event.request));
    else if (url.pathname.startsWith('/app/')) event.respondWith(file(event.request));
});
worker.addEventListener('push', (/** @type {any} */ event) => event.waitUntil(alert(factsOf(event.data))));
worker.addEventListener('notificationclick', (/** @type {any} */ event) => {
    event.notification.close();
    event.waitUntil(openThread(event.notification.data?.thread_id));
});

async function keepShell() {
    const cache = await caches.open(cacheName);
    await cache.addAll(shell.files);
    const page = await fetch('/', { cache: 'no-store' });
    // During an upgrade another node may have another version: this installation fails, and the browser tries again.
    if (!(await page.clone().text()).includes(`/app/${shell.version}/`)) {
        throw new Error('The page has another version.');
    }
    await cache.put('/', page);
}

/** Runs once no tab has the former version any more. */
async function begin() {
    const names = await caches.keys();
    const old = names.filter((name) => name.startsWith('parley-') && name !== cacheName);
    await Promise.all(old.map((name) => caches.delete(name)));
    // The browser asks for the first page while it starts this program.
    await worker.registration.navigationPreload?.enable();
    await worker.clients.claim();
}

/** The newest page of the server; offline, or if the server is slow, the one that is kept.
 * @param {{request: Request, preloadResponse?: Promise<Response | undefined>}} event */
async function firstPage({ request, preloadResponse }) {
    const asked = (async () => await preloadResponse ?? await fetch(request))();
    const answer = asked.then((response) => response.ok ? response : null, () => null);
    const kept = await caches.match('/', { cacheName });
    if (!kept) return asked;
    const late = new Promise((resolve) => setTimeout(resolve, 3000, null));
    return await Promise.race([answer, late]) ?? kept;
}

/** A file's path names its version, so it never changes.
 * @param {Request} request */
async function file(request) {
    return await caches.match(request) ?? fetch(request);
}

/** The manifest with the name of this service: an installed page is called as people call the service.
 * @param {Request} request */
async function manifest(request) {
    const answer = await file(request);
    try {
        const { name } = await (await fetch('/v1/service')).json();
        if (typeof name !== 'string') return answer;
        const text = JSON.stringify({ ...await answer.clone().json(), name, short_name: name });
        return new Response(text, { headers: answer.headers });
    } catch {
        // Offline, it is the manifest as it was built.
        return answer;
    }
}

/** @param {any} data of a push message; a broken one shows an alert without content, as browsers demand one */
function factsOf(data) {
    try {
        return data.json();
    } catch {
        return {};
    }
}

/** Shows an alert, or removes those that were read on another device.
 * @param {{event?: string, thread_id?: string, message_id?: string, seq?: number, read_up_to?: number, badge?: number,
 * title?: string, body?: string}} facts */
async function alert({ event, thread_id, message_id, seq, read_up_to, badge, title, body }) {
    if (badge !== undefined) await setBadge(badge);
    if (event === 'read') {
        const shown = await worker.registration.getNotifications({ tag: thread_id });
        for (const alert of shown) if ((alert.data?.seq ?? 0) <= (read_up_to ?? 0)) alert.close();
    } else {
        const data = { thread_id, message_id, seq };
        // Browsers refuse `renotify` without a tag.
        const place = thread_id ? { tag: thread_id, renotify: true } : {};
        await worker.registration.showNotification(title ?? 'Parley', { body, data, ...place });
    }
    // Open pages that have paused their poll fetch the message.
    for (const page of await pages()) page.postMessage({ kind: 'push' });
}

/** @param {number} count */
async function setBadge(count) {
    try {
        await (count > 0 ? worker.navigator.setAppBadge?.(count) : worker.navigator.clearAppBadge?.());
    } catch {
        // Only installed apps have a badge.
    }
}

/** Shows the thread in an open page, else in a new one.
 * @param {string | undefined} threadID */
async function openThread(threadID) {
    const address = threadID ? '/#/t/' + threadID : '/';
    const open = await pages();
    const page = open.find(({ focused }) => focused) ?? open[0];
    if (!page) return await worker.clients.openWindow(address);
    await page.focus();
    page.postMessage({ kind: 'open', address });
}

/** @returns {Promise<any[]>} the page in all tabs */
function pages() {
    return worker.clients.matchAll({ type: 'window', includeUncontrolled: true });
}
