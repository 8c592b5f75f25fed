// The core of the web client as the interface sees it.

import { Calls } from './calls.js';
import { LiveValue, Queries } from './live.js';
import { Drafts } from './drafts.js';
import { problemOf } from './http/problem.js';
import { fetchMembers } from './sync/commit.js';
import { putMessage } from './sync/outbox.js';
import { openStore } from './store/open.js';
import { Push, setBadge } from './sync/push.js';
import { Passing } from './sync/passing.js';
import { putReadMark } from './sync/read-marks.js';
import { attention } from './state/attention.js';
import { Sync } from './sync/sync.js';
import { Tabs } from './sync/tabs.js';
import { Threads } from './threads.js';
import { ThreadTimeline } from './timeline.js';

/** @typedef {import('./types.js').Person} Person */
/** @typedef {import('./types.js').Session} Session */
/** @typedef {import('./types.js').Member} Member */

/** Parts of the browser, which tests replace.
 * @typedef {{origin?: string, fetch?: typeof fetch, openStore?: typeof openStore, locks?: LockManager | null,
 * BroadcastChannel?: typeof BroadcastChannel | null}} Environment */

/** One account on one device. types.js describes every member. */
export class Chat extends Calls {
    /** @type {LiveValue<Session | null>} */
    session = new LiveValue();
    connection = new LiveValue({ value: /** @type {import('./types.js').Connection} */ ('connecting') });
    /** What ended the last session: null before the first end. @type {'user' | 'server' | null} */
    endedBy = null;
    /** Called with an error of the store, and with refusals of what was sent later. @type {(error: unknown) => void} */
    onfailure = () => {};
    /** Called in the leading tab with messages that arrived while no tab can be seen.
     * @type {(messages: import('./types.js').Message[]) => void} */
    onunseen = () => {};
    #end = new AbortController();
    #environment;
    #sessionRead = Promise.resolve();
    #queries = new Queries();
    #drafts = new Drafts({ store: this.store, queries: this.#queries });
    #threads = new Threads(this.store);
    #passing = new Passing({ http: this.http, store: this.store, threads: this.#threads, userID: () => this.#userID });
    /** @type {Tabs | null} */
    #tabs = null;
    /** @type {Sync | null} */
    #sync = null;
    #push = new Push({ http: this.http, onAlert: () => this.#sync?.nudge() });
    /** @type {Set<ThreadTimeline>} */
    #timelines = new Set();
    /** Read marks that are not in the store yet. @type {Map<string, number>} */
    #readMarks = new Map();

    /** @param {Environment} [environment] */
    constructor(environment = {}) {
        super(environment);
        this.#environment = environment;
        this.http.onSignedOut = (token) => {
            if (token === this.session.value?.token) void this.#erase('server');
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
            onUnseen: (messages) => void this.#reportUnseen(messages),
            hasAlerts: () => this.#push.state.value === 'on',
            renewFileAccess: () => this.renewFileAccess(),
        });
        await this.#readSession();
        this.#sync.start();
        this.#tabs.send({ kind: 'hello' });
        this.inbox.subscribe(({ threads }) => setBadge(attention(threads)));
        void this.startLater(this.#end.signal);
        this.#push.start(this.session.value !== null).catch((error) =>
            console.warn('registering for alerts failed', error)
        );
    }

    /** Ends what `start` began; the session stays. */
    close() {
        this.#end.abort();
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

    /** @param {Parameters<import('./types.js').ChatShape['signIn']>[0]} way */
    async signIn(way) {
        await this.#begin('/v1/auth/login', way);
    }

    /** With an e-mail address a code is mailed, and `signIn` follows.
     * @param {Parameters<import('./types.js').ChatShape['register']>[0]} account */
    async register(account) {
        await this.#begin('/v1/auth/register', account);
    }

    /** @param {Parameters<import('./types.js').ChatShape['setPassword']>[0]} way */
    async setPassword(way) {
        await this.#begin('/v1/auth/password', way);
    }

    async signOut() {
        const token = this.http.token ?? '';
        const problem = await this.http.call('POST', '/v1/auth/logout', { seconds: 5 }).catch(problemOf);
        await this.#erase('user');
        if (!problem?.isTemporary) return;
        // The server ends the session as soon as it can be reached from this browser.
        const { keepEnded } = await import('./ended-sessions.js');
        await keepEnded(this.store, token);
        void this.endSessions(this.#end.signal);
    }

    /** @param {'keep' | 'erase'} messages */
    async eraseAccount(messages) {
        await this.http.call('DELETE', '/v1/users/me', { query: { messages } });
        await this.#erase('user');
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
        const isFirst = this.session.value === undefined;
        // At the start there is nothing to forget, so the threads are read at the same time.
        const threads = isFirst && this.#threads.refreshAll();
        const [session, service] = await this.store.read(['meta'], async (tx) => {
            const rows = await Promise.all([tx.get('meta', 'session'), tx.get('meta', 'service')]);
            return rows.map((row) => row?.value ?? null);
        });
        if (service && !this.service.value) this.service.set(service);
        if (session?.token === this.session.value?.token && !isFirst) return;
        if (!isFirst || !session) this.#forget();
        this.http.token = session?.token ?? null;
        await (threads ?? this.#threads.refreshAll());
        this.session.set(session);
        this.#sync?.sessionChanged();
    }

    /** Removes everything that the browser has stored. @param {'user' | 'server'} by */
    async #erase(by) {
        this.#endSession(by);
        void this.#push.forget().catch(() => {});
        await this.store.erase();
        this.#tabs?.send({ kind: 'signed-out', by });
    }

    /** The session has ended, here or in another tab. @param {'user' | 'server'} by */
    #endSession(by) {
        this.endedBy = by;
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

    /** @param {string} threadID */
    draft(threadID) {
        return this.#drafts.live(threadID);
    }

    /** @param {string} threadID @param {{text: string, replyTo: import('./types.js').Message | null}} draft */
    setDraft(threadID, draft) {
        // The textbox of a conversation that closes saves its draft; after signing out nothing is stored.
        if (this.session.value) void this.#drafts.setText(threadID, draft);
    }

    /** @param {string} threadID @param {import('./types.js').DraftFile[]} files */
    async setDraftFiles(threadID, files) {
        if (this.session.value) await this.#drafts.setFiles(threadID, files);
    }

    /** @param {string} threadID */
    draftFiles(threadID) {
        return this.#drafts.files(threadID);
    }

    unsent() {
        return this.#drafts.unsent();
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
        if (message.kind === 'signed-out') this.#endSession(message.by);
    }

    /** @param {import('./state/records.js').Event[]} events */
    #receiveEvents(events) {
        this.#passing.receive(events);
        for (const { type, thread_id, data } of events) {
            if (type === 'receipt.updated') void this.#push.clear(thread_id ?? '', data.read_seq);
        }
    }

    /** @param {import('./types.js').Message[]} messages */
    async #reportUnseen(messages) {
        await this.#threads.refresh(messages.map(({ thread_id }) => thread_id));
        this.onunseen(messages);
    }

    /** @param {import('./types.js').Connection} connection */
    #setConnection(connection) {
        const isBack = connection === 'connected' && this.connection.value !== 'connected';
        this.connection.set(connection);
        if (connection === 'offline') this.#passing.forgetPresence();
        if (!isBack) return;
        for (const timeline of this.#timelines) timeline.reconnected();
        if (this.blocks.hasSubscribers) void this.loadBlocks();
        this.#passing.refresh();
    }
}
