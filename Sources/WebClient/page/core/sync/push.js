// The service worker, and alerts through the push service of the browser.

import { LiveValue } from '../live.js';

const workerPath = '/service-worker.js';

/** Alerts on this device. Needs a secure context: elsewhere `state` stays `unsupported`. */
export class Push {
    state = new LiveValue({ value: /** @type {'unsupported' | 'off' | 'on' | 'denied'} */ ('unsupported') });
    #http;
    #onAlert;
    /** @type {Promise<ServiceWorkerRegistration | null> | null} */
    #worker = null;

    /** @param {{http: import('../http/http.js').HTTP, onAlert: () => void}} options `onAlert` is called when the worker
     * has shown an alert */
    constructor({ http, onAlert }) {
        this.#http = http;
        this.#onAlert = onAlert;
    }

    /** Registers the worker, and the device again if alerts are on: the contract demands that at each start.
     * @param {boolean} isSignedIn */
    async start(isSignedIn) {
        this.#worker ??= this.#startWorker();
        const subscription = await this.#subscription();
        if (subscription && isSignedIn && Notification.permission === 'granted') {
            await (await import('./subscribe.js')).register(subscription, this.#http);
        }
        await this.#show();
    }

    /** Requests the person's permission, subscribes at the browser's push service, and registers the device. */
    async enable() {
        const registration = await this.#worker;
        if (!registration?.pushManager) return;
        // First, because browsers show the question right after a click only.
        if (await Notification.requestPermission() !== 'granted') return await this.#show();
        await (await import('./subscribe.js')).subscribe(registration.pushManager, this.#http);
        await this.#show();
    }

    async disable() {
        await this.#http.delete('/v1/sessions/current/push');
        await this.forget();
    }

    /** Ends the subscription of the browser: the session has ended, and the server's registration with it. */
    async forget() {
        await (await this.#subscription())?.unsubscribe();
        const registration = await this.#worker;
        for (const alert of await registration?.getNotifications() ?? []) alert.close();
        await this.#show();
    }

    /** Removes the alerts of a thread that was read here.
     * @param {string} threadID @param {number} seq */
    async clear(threadID, seq) {
        const registration = await this.#worker;
        for (const alert of await registration?.getNotifications({ tag: threadID }) ?? []) {
            if (alert.data?.seq <= seq) alert.close();
        }
    }

    async #startWorker() {
        const { serviceWorker } = globalThis.navigator ?? {};
        if (!serviceWorker) return null;
        serviceWorker.addEventListener('message', ({ data }) => {
            if (data?.kind === 'push') this.#onAlert();
            if (data?.kind === 'open') globalThis.location.assign(data.address);
        });
        try {
            return await serviceWorker.register(trusted(workerPath));
        } catch (error) {
            console.warn('the service worker cannot be registered; the page does not open offline', error);
            return null;
        }
    }

    async #subscription() {
        try {
            return await (await this.#worker)?.pushManager?.getSubscription() ?? null;
        } catch {
            return null;
        }
    }

    async #show() {
        const registration = await this.#worker;
        if (!registration?.pushManager || !('Notification' in globalThis)) return this.state.set('unsupported');
        if (Notification.permission === 'denied') return this.state.set('denied');
        this.state.set(await this.#subscription() ? 'on' : 'off');
    }
}

/** Returns a script's address as Chromium demands it of pages with `require-trusted-types-for`.
 * @param {string} path */
function trusted(path) {
    const { trustedTypes } = /** @type {any} */ (globalThis);
    if (!trustedTypes) return path;
    return trustedTypes.createPolicy('parley-worker', { createScriptURL: () => workerPath }).createScriptURL(path);
}

/** Shows a count on the icon of the installed app.
 * @param {number} count */
export function setBadge(count) {
    globalThis.navigator?.setAppBadge?.(count).catch(() => {});
}
