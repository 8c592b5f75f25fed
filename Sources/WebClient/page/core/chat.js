// The core of the web client as the interface sees it.

import { Calls } from './calls.js';
import { LiveValue, Queries } from './live.js';
import { fetchMembers } from './sync/commit.js';
import { changeEntry, putMessage } from './sync/outbox.js';
import { openStore } from './store/open.js';
import { Push, setBadge } from './sync/push.js';
import { Passing } from './sync/passing.js';
import { putReadMark } from './sync/read-marks.js';
import { Sync } from './sync/sync.js';
import { Tabs } from './sync/tabs.js';
import { Threads } from './threads.js';
import { ThreadTimeline } from './timeline.js';

/** @typedef {import('./types.js').Person} Person */
/** @typedef {import('./types.js').Session} Session */
/** @typedef {import('./types.js').Draft} Draft */
/** @typedef {import('./types.js').Member} Member */

/** Parts of the browser, which tests replace.
 * @typedef {{origin?: string, fetch?: typeof fetch, openStore?: typeof openStore, locks?: LockManager | null,
 * BroadcastChannel?: typeof BroadcastChannel | null}} Environment */

/** One account on one device. types.js describes every member. */
export class Chat extends Calls {
    /** @type {LiveValue<Session | null>} */
    session = new LiveValue();
    connection = new LiveValue({ value: /** @type {import('./types.js').Connection} */ ('connecting') });
    /** Called with an error of the store. @type {(error: unknown) => void} */
    onfailure = () => {};
    #environment;
    #sessionRead = Promise.resolve();
    #queries = new Queries();
    #threads = new Threads(this.store);
    #passing = new Passing({ http: this.http, store: this.store, threads: this.#threads, userID: () => this.#userID });
    /** @type {Tabs | null} */
    #tabs = null;
    /** @type {Sync | null} */
    #sync = null;
    #push = new Push({ http: this.http, onAlert: () => this.#sync?.nudge() });
    /** @type {Set<ThreadTimeline>} */
    #timelines = new Set();
    /** @type {Promise<any[]> | null} */
    #drafts = null;
    /** Read marks that are not in the store yet. @type {Map<string, number>} */
    #readMarks = new Map();

    /** @param {Environment} [environment] */
    constructor(environment = {}) {
        super(environment);
        this.#environment = environment;
        this.http.onSignedOut = (token) => {
            if (token === this.session.value?.token) void this.#erase();
        };
    }

    /** Opens the store, joins the other tabs, and syncs if signed in. */
    async start() {
        const environment = this.#environment;
        const { locks = navigator.locks ?? null, BroadcastChannel: Channel = globalThis.BroadcastChannel ?? null } =
            environment;
        const publish = /** @param {string[]} topics */ (topics) => {
            this.#tabs?.send({ kind: 'changes', topics });
            this.#storeChanged(topics);
        };
        this.store.open(await (environment.openStore ?? openStore)(publish, () => this.#leave()));
        this.#tabs = new Tabs(this.store.isShared ? Channel : null);
        this.#tabs.listen((message) => this.#receive(message));
        this.#sync = new Sync({
            store: this.store,
            http: this.http,
            tabs: this.#tabs,
            locks,
            session: this.session,
            onConnection: (connection) => this.#setConnection(connection),
            onPassing: (events) => this.#receiveEvents(events),
            onFailure: (error) => this.onfailure(error),
            hasAlerts: () => this.#push.state.value === 'on',
            renewFileAccess: () => this.renewFileAccess(),
        });
        await this.#readSession();
        this.#sync.start();
        this.#tabs.send({ kind: 'hello' });
        this.inbox.subscribe(({ unreadTotal }) => setBadge(unreadTotal));
        this.#push.start(this.session.value !== null).catch((error) =>
            console.warn('registering for alerts failed', error)
        );
    }

    /** Ends what `start` began; the session stays. */
    close() {
        this.#sync?.close();
        this.#tabs?.close();
        this.store.close();
    }

    /** Another tab has a newer version of the page, and the store with it. */
    #leave() {
        this.close();
        globalThis.location?.reload();
    }

    /** @protected @override @param {string} id */
    readThread(id) {
        return this.#threads.refresh([id]);
    }

    get #userID() {
        return this.session.value?.user.id;
    }

    // Signing in and out

    /** @param {{username: string, password: string} | {email: string, code: string}} way */
    async signIn(way) {
        await this.#begin('/v1/auth/login', way);
    }

    /** With an e-mail address a code is mailed, and `signIn` follows.
     * @param {{name: string, username: string, password: string} | {name: string, email: string}} account */
    async register(account) {
        await this.#begin('/v1/auth/register', account);
    }

    async signOut() {
        try {
            await this.http.call('POST', '/v1/auth/logout', { seconds: 5 });
        } catch {
            // Offline: the session ends when it is unused for long enough, or from another device.
        }
        await this.#erase();
    }

    /** @param {'keep' | 'erase'} messages */
    async eraseAccount(messages) {
        await this.http.call('DELETE', '/v1/users/me', { query: { messages } });
        await this.#erase();
    }

    /** @param {string} path @param {object} body */
    async #begin(path, body) {
        const { beginSession } = await import('./sign-in.js');
        if (!await beginSession(this.http, this.store, path, body)) return;
        await this.#readSession();
        await this.renewFileAccess().catch(() => {});
    }

    /** Applies the stored session, which another tab may have started. Calls run one after the other.
     * @returns {Promise<void>} */
    #readSession() {
        return this.#sessionRead = this.#sessionRead.catch(() => {}).then(() => this.#applySession());
    }

    async #applySession() {
        const session = await this.store.read(['meta'], async (tx) => (await tx.get('meta', 'session'))?.value ?? null);
        if (session?.token === this.session.value?.token && this.session.value !== undefined) return;
        this.#forget();
        this.http.token = session?.token ?? null;
        await this.#threads.refreshAll();
        this.session.set(session);
        this.#sync?.sessionChanged();
    }

    /** Removes everything that the browser has stored. */
    async #erase() {
        this.#end();
        void this.#push.forget().catch(() => {});
        await this.store.erase();
        this.#tabs?.send({ kind: 'signed-out' });
    }

    /** The session has ended, here or in another tab. */
    #end() {
        this.http.token = null;
        this.session.set(null);
        this.#forget();
        this.#sync?.sessionChanged();
    }

    /** Forgets what is in memory. */
    #forget() {
        for (const timeline of [...this.#timelines]) timeline.close();
        this.#readMarks.clear();
        this.#threads.clear();
        this.#queries.clear();
        this.#passing.clear();
        this.blocks.reset();
        setBadge(0);
    }

    // Live values

    get inbox() {
        return this.#threads.inbox;
    }

    /** @param {string} threadID */
    thread(threadID) {
        return this.#threads.thread(threadID);
    }

    get me() {
        return this.#queries.live('account', async () => {
            const account = await this.store.read(['meta'], (tx) => tx.get('meta', 'account'));
            return account?.value.user ?? this.session.value?.user;
        });
    }

    /** @param {string} threadID @returns {LiveValue<Member[]>} */
    members(threadID) {
        return this.#queries.live('members/' + threadID, async () => {
            return (await this.store.read(['members'], (tx) => tx.get('members', threadID)))?.members;
        }, () => {
            fetchMembers(this.store, this.http, threadID).catch(() => {});
        });
    }

    /** @param {string} threadID */
    typing(threadID) {
        return this.#passing.typing(threadID);
    }

    /** @param {string} userID */
    presence(userID) {
        return this.#passing.presence(userID);
    }

    /** @param {string} threadID @returns {LiveValue<Draft>} */
    draft(threadID) {
        return this.#queries.live('draft/' + threadID, async () => {
            const draft = (await this.#readDrafts()).find(({ thread_id }) => thread_id === threadID);
            return { text: draft?.text ?? '', replyTo: draft?.replyTo ?? null };
        });
    }

    /** Reads all drafts. The rows of the inbox, which request theirs at the same moment, share one transaction. */
    #readDrafts() {
        this.#drafts ??= Promise.resolve().then(() => {
            this.#drafts = null;
            return this.store.read(['drafts'], (tx) => tx.all('drafts'));
        });
        return this.#drafts;
    }

    /** @param {string} threadID @param {Draft} draft */
    setDraft(threadID, { text, replyTo }) {
        // The textbox of a conversation that closes saves its draft; after signing out nothing is stored.
        if (!this.session.value) return;
        void this.store.write(['drafts'], (tx) => {
            if (text || replyTo) tx.put('drafts', { thread_id: threadID, text, replyTo });
            else tx.delete('drafts', threadID);
            tx.publish('draft/' + threadID);
        });
    }

    /** @param {string} threadID @returns {ThreadTimeline} */
    openTimeline(threadID) {
        /** @type {ThreadTimeline} */
        const timeline = new ThreadTimeline(threadID, {
            store: this.store,
            http: this.http,
            userID: this.#userID ?? '',
            shownThread: () => this.#threads.get(threadID),
            message: (...ids) => this.message(...ids),
            onClose: () => this.#timelines.delete(timeline),
        });
        this.#timelines.add(timeline);
        timeline.open().catch((error) => console.warn('opening a thread failed', error));
        return timeline;
    }

    // Sending

    /** @param {string} threadID @param {import('./types.js').Outgoing} outgoing
     * @returns {Promise<string>} */
    async send(threadID, outgoing) {
        const { id, name, profile_image } = /** @type {Person} */ (this.me.value ?? this.session.value?.user);
        this.#passing.stop(threadID);
        return await putMessage(this.store, threadID, { id, name, profile_image }, outgoing);
    }

    /** @param {string} messageID */
    async retry(messageID) {
        await changeEntry(this.store, messageID, 'retry');
    }

    /** @param {string} messageID */
    async discard(messageID) {
        await changeEntry(this.store, messageID, 'discard');
    }

    /** @param {string} threadID @param {number} seq */
    markRead(threadID, seq) {
        if (this.#readMarks.size === 0) setTimeout(() => void this.#putReadMarks(), 100);
        this.#readMarks.set(threadID, Math.max(seq, this.#readMarks.get(threadID) ?? 0));
    }

    /** @override @param {string} threadID @param {number} seq */
    async markUnread(threadID, seq) {
        this.#readMarks.delete(threadID);
        await super.markUnread(threadID, seq);
    }

    async #putReadMarks() {
        const marks = [...this.#readMarks];
        this.#readMarks.clear();
        for (const [threadID, seq] of marks) {
            await putReadMark(this.store, threadID, seq, this.#userID ?? '');
            void this.#push.clear(threadID, seq);
        }
    }

    /** @param {string} threadID */
    reportTyping(threadID) {
        this.#passing.report(threadID);
    }

    // Alerts

    get push() {
        return this.#push.state;
    }

    async enablePush() {
        await this.#push.enable();
    }

    async disablePush() {
        await this.#push.disable();
    }

    // Changes

    /** Rows of the store have changed, in this tab or another.
     * @param {string[]} topics */
    #storeChanged(topics) {
        if (topics.includes('session')) void this.#readSession();
        if (topics.includes('inbox')) void this.#threads.refreshAll();
        const ids = topics.filter((topic) => /^(thread|mark|outbox)\//.test(topic)).map((topic) => topic.split('/')[1]);
        if (ids.length > 0) void this.#threads.refresh(ids);
        if (topics.includes('account') && this.blocks.hasSubscribers) void this.loadBlocks();
        this.#queries.changed(topics);
        this.#sync?.storeChanged(topics);
        for (const timeline of this.#timelines) {
            if (topics.some((topic) => topic.endsWith(timeline.threadID) || topic.startsWith('file/'))) {
                timeline.changed();
            }
        }
    }

    /** @param {import('./sync/tabs.js').TabMessage} message */
    #receive(message) {
        if (message.kind === 'changes') this.#storeChanged(message.topics);
        if (message.kind === 'connection') this.#setConnection(message.connection);
        if (message.kind === 'events') this.#receiveEvents(message.events);
        this.#sync?.receive(message);
        if (message.kind === 'signed-out') this.#end();
    }

    /** @param {import('./state/records.js').Event[]} events */
    #receiveEvents(events) {
        this.#passing.receive(events);
        for (const { type, thread_id, data } of events) {
            if (type === 'receipt.updated') void this.#push.clear(thread_id ?? '', data.read_seq);
        }
    }

    /** @param {import('./types.js').Connection} connection */
    #setConnection(connection) {
        const isBack = connection === 'connected' && this.connection.value !== 'connected';
        this.connection.set(connection);
        if (!isBack) return;
        for (const timeline of this.#timelines) timeline.reconnected();
        if (this.blocks.hasSubscribers) void this.loadBlocks();
        this.#passing.refresh();
    }
}
