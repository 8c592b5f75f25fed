// Syncing in the leading tab: the poll, the outbox and the read marks.

import { forever, sleep } from '../http/back-off.js';
import { isHidden, Seen, takeTurns } from './tabs.js';
import { OutboxSender } from './outbox.js';
import { Poll } from './poll.js';
import { ReadMarkSender } from './read-marks.js';

/** @typedef {import('../types.js').Connection} Connection */
/** @typedef {import('../types.js').Session} Session */

/** @typedef {{store: import('../store/schema.js').Store, http: import('../http/http.js').HTTP,
 * tabs: import('./tabs.js').Tabs, locks: LockManager | null, session: import('../live.js').LiveValue<Session | null>,
 * onConnection: (connection: Connection) => void, onPassing: (events: import('../state/records.js').Event[]) => void,
 * onFailure: (error: unknown) => void, onUnseen: (messages: import('../types.js').Message[]) => void, hasAlerts: () => boolean, renewFileAccess: () => Promise<void>}} Options `onUnseen`
 * receives messages that arrive while no tab can be seen; `hasAlerts`: whether the server sends alerts to this device */

export class Sync {
    #options;
    #end = new AbortController();
    #sessionEnd = new AbortController();
    /** Whether this tab is the leader. */
    #isLeading = false;
    /** @type {Connection} */
    #connection = 'connecting';
    /** Whether a tab can be seen, as far as the last roll-call knows. */
    #isSeen = true;
    #poll;
    #outbox;
    #readMarks;
    #seen;
    #isReacting = false;

    /** @param {Options} options */
    constructor(options) {
        this.#options = options;
        const { tabs, onConnection, onPassing } = options;
        this.#poll = new Poll({
            ...options,
            onConnection: (connection) => {
                if (connection === this.#connection) return;
                this.#connection = connection;
                onConnection(connection);
                tabs.send({ kind: 'connection', connection });
                if (connection !== 'connected') return;
                this.#outbox.nudge();
                this.#readMarks.nudge();
                void this.#sendReactions();
            },
            onPassing: (events) => {
                onPassing(events);
                tabs.send({ kind: 'events', events });
            },
            onMessages: async (messages) => {
                if (!await this.#seen.isAny()) options.onUnseen(messages);
            },
        });
        this.#seen = new Seen(options.locks);
        this.#outbox = new OutboxSender(options);
        this.#readMarks = new ReadMarkSender(options);
    }

    start() {
        const signal = this.#end.signal;
        void takeTurns(this.#options, (turn) => this.#lead(AbortSignal.any([turn, signal])), signal);
        const hint = { signal };
        globalThis.addEventListener?.('online', () => this.nudge(), hint);
        globalThis.addEventListener?.('offline', () => this.nudge(), hint);
        globalThis.addEventListener?.('visibilitychange', () => {
            this.#seen.update();
            this.#answerRollCall();
        }, hint);
        this.#seen.update();
    }

    close() {
        this.#seen.end();
        this.#end.abort();
    }

    /** Polls and sends at once. */
    nudge() {
        if (!this.#isLeading) return;
        this.#poll.nudge();
        this.#outbox.nudge();
        this.#readMarks.nudge();
    }

    /** @param {import('./tabs.js').TabMessage} message of another tab */
    receive({ kind }) {
        if (kind === 'hello' && this.#isLeading) {
            this.#options.tabs.send({ kind: 'connection', connection: this.#connection });
        }
        if (kind === 'roll-call') this.#answerRollCall();
        if (kind === 'visible') this.#beVisible();
    }

    /** The session has begun or ended. */
    sessionChanged() {
        this.#sessionEnd.abort();
    }

    /** @param {string[]} topics that changed in the store */
    storeChanged(topics) {
        if (topics.some((topic) => topic.startsWith('outbox/'))) this.#outbox.nudge();
        if (topics.some((topic) => topic.startsWith('mark/'))) this.#readMarks.nudge();
        if (topics.some((topic) => topic.startsWith('reaction/'))) void this.#sendReactions();
    }

    /** Sends the reactions that were chosen without a connection. */
    async #sendReactions() {
        if (!this.#isLeading || this.#connection !== 'connected' || this.#isReacting) return;
        this.#isReacting = true;
        try {
            const { sendReactions } = await import('./reactions.js');
            await sendReactions(this.#options, AbortSignal.any([this.#end.signal, this.#sessionEnd.signal]));
        } finally {
            this.#isReacting = false;
        }
    }

    #answerRollCall() {
        if (isHidden()) return;
        this.#options.tabs.send({ kind: 'visible' });
        this.#beVisible();
    }

    #beVisible() {
        this.#isSeen = true;
        this.#poll.resume();
    }

    /** Notices that no tab can be seen. While alerts are on, the poll pauses then.
     * @param {AbortSignal} signal */
    async #watchTabs(signal) {
        while (!signal.aborted) {
            await sleep(20_000, signal);
            if (!isHidden()) continue;
            this.#isSeen = false;
            this.#options.tabs.send({ kind: 'roll-call' });
            await sleep(1000, signal);
            if (this.#isSeen || signal.aborted) continue;
            if (this.#options.hasAlerts()) this.#poll.pause();
            else this.#poll.hide();
        }
    }

    /** @param {AbortSignal} signal */
    async #lead(signal) {
        this.#isLeading = true;
        try {
            while (!signal.aborted) {
                const end = this.#sessionEnd = new AbortController();
                const running = AbortSignal.any([signal, end.signal]);
                const session = this.#options.session.value;
                if (session) {
                    void this.#options.renewFileAccess().catch(() => {});
                    await Promise.all([
                        this.#poll.run(session.user.id, running),
                        this.#outbox.run(running),
                        this.#readMarks.run(running),
                        this.#watchTabs(running),
                    ]);
                }
                await sleep(forever, running);
            }
        } finally {
            this.#isLeading = false;
        }
    }
}
