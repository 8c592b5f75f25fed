// What the tabs of a browser tell each other.

/** @typedef {{kind: 'notes', topics: string[]}
 *   | {kind: 'hello'}
 *   | {kind: 'connection', connection: import('../types.js').Connection}
 *   | {kind: 'events', events: import('../state/records.js').Event[]}
 *   | {kind: 'free'}
 *   | {kind: 'signed-out'}
 *   | {kind: 'visible', tab: string, isVisible: boolean}} TabMessage
 * `notes`: rows of the store changed. `hello`: a tab asks the leader for what is not stored. `events`: typing and presence,
 * which are not stored. `free`: the leader has gone. `signed-out`: everything was removed. */

/** The channel between the tabs. Without BroadcastChannel, or with a store of the tab's own, a tab is alone. */
export class Tabs {
    /** @type {BroadcastChannel | null} */
    #channel;
    /** @type {Set<(message: TabMessage) => void>} */
    #handlers = new Set();

    /** @param {typeof BroadcastChannel | null} [Channel] */
    constructor(Channel = globalThis.BroadcastChannel ?? null) {
        this.#channel = Channel ? new Channel('parley') : null;
        this.#channel?.addEventListener('message', (event) => {
            for (const handler of this.#handlers) handler(event.data);
        });
    }

    /** Sends to the other tabs.
     * @param {TabMessage} message */
    send(message) {
        this.#channel?.postMessage(message);
    }

    /** @param {(message: TabMessage) => void} handler is called with messages of the other tabs */
    listen(handler) {
        this.#handlers.add(handler);
    }

    close() {
        this.#channel?.close();
        this.#channel = null;
    }
}
