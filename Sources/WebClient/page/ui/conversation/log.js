// The messages of a conversation: the element that scrolls. It shows the loaded part of the timeline, asks for more before
// an end comes into view, and reports what was read.

import { arrange, Component, div, element, p } from '../dom.js';
import { attempt, later, loaded } from '../parts/action.js';
import { showProblem } from '../parts/alert.js';
import { dayName } from '../parts/time.js';
import { t } from '../../language/index.js';
import { isPicture } from './attachments.js';
import { LogFocus } from './log-focus.js';
import { MessageRow } from './message-row.js';
import { ScrollKeeper } from './scroll-keeper.js';
import { continues, deliveryStatus, rowWithStatus } from './status.js';

/** @import { ChatShape, Member, Message, Row, Thread, TimelineView } from '../../core/types.js' */

/** After a page could not be loaded, the next try waits this long. */
const pauseAfterFailure = 3000;

export class Log extends Component {
    #content = div('log-content');
    #keeper = new ScrollKeeper(this, this.#content);
    #timeline;
    /** @type {TimelineView | null} */
    #view = null;
    /** @type {Thread | null} */
    #thread = null;
    /** @type {Member[]} */
    #members = [];
    /** @type {Map<string, MessageRow>} */
    #rows = new Map();
    /** @type {Map<string, HTMLElement>} */
    #days = new Map();
    #divider = element(
        'div',
        { class: 'divider', role: 'separator', 'aria-label': t('conversation.newMessages') },
        t('conversation.newMessages'),
    );
    #start = p('start hint');
    /** Messages that are answered and not loaded. @type {Map<string, Message | null | undefined>} */
    #originals = new Map();
    /** The id of the message to bring into view once it is loaded, or `newest`. @type {string | null} */
    #wanted;
    #isPlaced = false;
    #focus = new LogFocus(this, () => this.#rows);
    #readSeq = 0;
    #isScheduled = false;
    /** Counts changes of what all rows depend on: people's names, the kind of thread, the time. */
    #changes = 0;
    /** The loads that run. @type {Set<'loadOlder' | 'loadNewer'>} */
    #loads = new Set();
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    #expiry;
    #wasAtNewest = true;
    #isOffline = false;
    /** @type {import('./message-row.js').Host} */
    #host;

    /** Called with a message that the user wants to answer. @type {(message: Message) => void} */
    onreply = () => {};
    /** Called when the newest message has come into view, or left it. */
    onmove = () => {};
    /** Called with the day of the first message in view once its heading is out of view, else with an empty text.
     * @type {(day: string) => void} */
    onday = () => {};

    /** @param {ChatShape} chat @param {string} threadID @param {string | null} messageID */
    constructor(chat, threadID, messageID) {
        super();
        this.chat = chat;
        this.threadID = threadID;
        this.#wanted = messageID;
        this.#timeline = chat.openTimeline(threadID);
        this.#host = {
            chat,
            me: chat.session.value?.user.id ?? '',
            isDirect: false,
            people: new Map(),
            reactionTitles: new Map(),
            showMessage: (id) => this.showMessage(id),
            openActions: async (row, button, at) =>
                (await loaded(import('../message/actions.js'))).openActions(row, button, this, at),
            openPicture: (file) =>
                attempt(async () => (await loaded(import('./lightbox.js'))).openLightbox(this.#pictures(), file, chat)),
        };
    }

    connectedCallback() {
        this.role = 'log';
        this.ariaLabel = t('conversation.messages');
        this.ariaRelevant = 'additions';
        this.append(this.#content);
        this.follow(this.#timeline.view, (view) => this.#change(() => this.#view = view));
        this.follow(this.chat.thread(this.threadID), (thread) => this.#change(() => this.#showThread(thread)));
        this.follow(this.chat.members(this.threadID), (members) => this.#change(() => this.#showMembers(members)));
        this.addEventListener('scroll', () => this.#scrolled(), { passive: true });
        later(() => import('../message/pointer.js'), ({ followPointer }) => followPointer(this));
        const onvisible = () => this.#report();
        document.addEventListener('visibilitychange', onvisible);
        this.atEnd(() => {
            document.removeEventListener('visibilitychange', onvisible);
            this.#timeline.close();
            this.#keeper.stop();
            clearTimeout(this.#expiry);
        });
        this.follow(
            this.chat.connection,
            (connection) => this.#change(() => this.#isOffline = connection === 'offline'),
        );
        if (this.#wanted) this.showMessage(this.#wanted);
    }

    /** Whether the newest message is in view. */
    get isAtNewest() {
        // Before the first messages there is nothing to measure, and to measure takes time.
        return !this.#isPlaced || this.#keeper.hasEnd && this.#keeper.distance < 48;
    }

    /** Goes to the newest message and follows new ones. */
    async showNewest() {
        this.#focus.choose(null);
        await this.#goTo('newest', !!this.#view?.atEnd);
    }

    /** Brings a message into view, with others around it.
     * @param {string} id */
    async showMessage(id) {
        if (!await this.#goTo(id, this.#rows.has(id))) showProblem(t('conversation.notFound'));
    }

    /** @param {string} wanted @param {boolean} isLoaded @returns {Promise<boolean>} whether it is in view, or was replaced */
    async #goTo(wanted, isLoaded) {
        this.#wanted = wanted;
        try {
            if (!isLoaded) await this.#timeline.goTo(wanted === 'newest' ? wanted : { id: wanted });
            // The view follows within a microtask.
            await new Promise((resolve) => setTimeout(resolve));
            this.#render();
            return this.#wanted !== wanted;
        } catch (error) {
            showProblem(error);
            return true;
        } finally {
            if (this.#wanted === wanted) this.#wanted = null;
            this.#render();
        }
    }

    get thread() {
        return this.#thread;
    }

    get reactionTitles() {
        return this.#host.reactionTitles;
    }

    /** The row around an element. @param {Element} inner */
    rowAt(inner) {
        return this.#rows.get(inner.closest('article')?.dataset.id ?? '');
    }

    /** Moves the focus to the log's tab stop. */
    focusStop() {
        this.#focus.enter();
    }

    /** Opens the editor of the newest own message that can be edited. */
    async editNewest() {
        const { permissions } = await loaded(import('../message/permissions.js'));
        if (!this.#view?.atEnd) await this.showNewest();
        const rows = this.#view?.rows ?? [];
        const row = rows.findLast((row) => permissions(row, this.#thread, this.#host.me).edit);
        if (row) this.edit(row.key);
    }

    /** @param {string} key */
    edit(key) {
        attempt(async () => {
            await this.#rows.get(key)?.edit();
            this.#rows.get(key)?.element.scrollIntoView({ block: 'nearest' });
        });
    }

    /** Changes what the log shows, together with other changes of this moment.
     * @param {() => void} change */
    #change(change) {
        change();
        if (this.#isScheduled) return;
        this.#isScheduled = true;
        queueMicrotask(() => this.#isScheduled && this.#render());
    }

    /** @param {Thread | null} thread */
    #showThread(thread) {
        this.#thread = thread;
        const isDirect = thread?.kind === 'direct';
        if (isDirect !== this.#host.isDirect) this.#changes += 1;
        this.#host.isDirect = isDirect;
        this.toggleAttribute('data-direct', isDirect);
    }

    /** @param {Member[]} members */
    #showMembers(members) {
        const names = (/** @type {Member[]} */ list) => JSON.stringify(list.map(({ user }) => [user.id, user.name]));
        if (names(members) !== names(this.#members)) this.#changes += 1;
        this.#members = members;
        this.#host.people = new Map(members.map(({ user }) => [user.id, user]));
    }

    #render() {
        this.#isScheduled = false;
        const view = this.#view;
        if (!view || !this.isConnected) return;
        arrange(this.#content, this.#nodes(view));
        this.#keeper.restore();
        this.#keeper.hasEnd = view.atEnd;
        if (this.#wanted) this.#bring(this.#wanted);
        else if (!this.#isPlaced && (view.rows.length > 0 || (view.atStart && view.atEnd))) this.#open();
        this.#focus.update();
        this.#watchExpiry(view.rows);
        this.#scrolled();
    }

    /** The log's children: articles with days and the divider between them.
     * @param {TimelineView} view @returns {HTMLElement[]} */
    #nodes({ rows, atStart, isLoading, firstUnread }) {
        const { me } = this.#host;
        const lastSeq = Math.max(0, ...[...this.#rows.values()].map(({ row }) => row.message.seq));
        const withStatus = rowWithStatus(rows, me);
        const others = this.#members.filter(({ user }) => user.id !== me);
        const known = this.#rows;
        this.#rows = new Map();
        const days = new Map();
        this.#start.textContent = atStart
            ? (rows.length ? t('conversation.start') : t('conversation.empty'))
            : t(this.#isOffline ? 'notice.notStored' : 'conversation.loading');
        /** @type {HTMLElement[]} */
        const nodes = rows.length === 0 && isLoading && !this.#isOffline ? [] : [this.#start];
        // Without the message before it, the first unread one may be further up.
        const first = firstUnread && rows.findIndex(({ message }) => message.seq >= firstUnread);
        const isFirstKnown = first && first > 0 || atStart || rows[0]?.message.seq === firstUnread;
        rows.forEach((row, index) => {
            const { message, key } = row;
            const day = new Date(message.timestamp).toDateString();
            if (!days.has(day)) {
                days.set(day, this.#days.get(day) ?? p('day hint', dayName(message.timestamp)));
                nodes.push(days.get(day));
            }
            const isFirst = index === first && isFirstKnown;
            if (isFirst) nodes.push(this.#divider);
            const isNew = message.seq > lastSeq && this.#isPlaced && this.#keeper.hasEnd && message.sender?.id !== me;
            const made = known.get(key) ?? new MessageRow(row, this.#host, isNew);
            made.update(row, {
                isContinued: !isFirst && continues(rows[index - 1], row),
                status: row === withStatus ? deliveryStatus(row, this.#thread, others) : null,
                original: message.reply_to === null ? undefined : this.#original(message.reply_to),
            }, this.#changes);
            this.#rows.set(key, made);
            nodes.push(made.element);
        });
        this.#days = days;
        return nodes;
    }

    /** Opens at the first unread message, else at the newest. */
    #open() {
        this.#isPlaced = true;
        if (this.#divider.isConnected) this.#keeper.show(this.#divider, 'top');
        else this.#keeper.showEnd();
    }

    /** @param {string} wanted */
    #bring(wanted) {
        const row = this.#rows.get(wanted);
        if (wanted === 'newest' ? !this.#keeper.hasEnd : !row) return;
        this.#wanted = null;
        this.#isPlaced = true;
        if (!row) return this.#keeper.showEnd();
        this.#keeper.show(row.element, 'centre');
        this.#focus.choose(wanted);
        // From a reply, the focus goes with the view.
        if (this.contains(document.activeElement)) row.element.focus({ preventScroll: true });
        row.element.animate({ backgroundColor: ['var(--highlight)', 'transparent'] }, 2000);
    }

    #scrolled() {
        this.#keeper.record();
        this.#report();
        this.#loadMore();
        if (this.isAtNewest !== this.#wasAtNewest) this.onmove();
        this.#wasAtNewest = this.isAtNewest;
        this.#showDay();
    }

    #showDay() {
        const first = this.#rows.get(this.#keeper.first?.dataset.id ?? '')?.row.message.timestamp;
        const heading = first && this.#days.get(new Date(first).toDateString());
        const isAbove = heading && heading.offsetTop + heading.offsetHeight < this.scrollTop;
        this.onday(isAbove ? dayName(first) : '');
    }

    /** Reports the newest message in view as read, if the page is visible. */
    #report() {
        if (document.visibilityState !== 'visible' || !this.#isPlaced || this.#thread?.me.status !== 'joined') return;
        const end = this.scrollTop + this.clientHeight;
        const seen = this.#keeper.rowsInView().findLast((row) =>
            row.dataset.seq && row.offsetTop + Math.min(row.offsetHeight, this.clientHeight) / 2 <= end
        );
        const seq = Number(seen?.dataset.seq ?? 0);
        if (seq <= this.#readSeq) return;
        this.#readSeq = seq;
        if (seq > this.#thread.me.read_seq) this.chat.markRead(this.threadID, seq);
    }

    /** Loads rows before an end of the loaded part comes into view. */
    #loadMore() {
        if (!this.#isPlaced || !this.#view || this.#wanted || this.clientHeight === 0) return;
        const margin = this.clientHeight * 2;
        if (!this.#view.atStart && this.scrollTop < margin) this.#load('loadOlder');
        else if (!this.#view.atEnd && this.#keeper.distance < margin) this.#load('loadNewer');
    }

    /** @param {'loadOlder' | 'loadNewer'} direction */
    async #load(direction) {
        if (this.#loads.has(direction)) return;
        this.#loads.add(direction);
        try {
            await this.#timeline[direction]();
        } catch {
            // The connection's status says why. The next try comes by itself.
            await new Promise((resolve) => setTimeout(resolve, pauseAfterFailure));
        }
        this.#loads.delete(direction);
        if (this.isConnected) requestAnimationFrame(() => this.#loadMore());
    }

    /** Shows messages as deleted when their time is over. @param {Row[]} rows */
    #watchExpiry(rows) {
        clearTimeout(this.#expiry);
        const now = Date.now();
        const times = rows.map(({ message }) => Date.parse(message.expires_at ?? '') - now).filter((time) => time > 0);
        // Timers of browsers end at 2³¹ ms.
        const next = Math.min(...times, 2 ** 31 - 100) + 50;
        if (times.length > 0) this.#expiry = setTimeout(() => this.#change(() => this.#changes += 1), next);
    }

    /** The message that another one answers; undefined until it is known, null if it does not exist any more.
     * @param {string} id */
    #original(id) {
        const loaded = this.#view?.rows.find(({ key }) => key === id);
        if (loaded) return loaded.message;
        if (!this.#originals.has(id)) {
            this.#originals.set(id, undefined);
            this.chat.message(this.threadID, id).then(
                (found) => this.#change(() => this.#originals.set(id, found)),
                () => this.#originals.delete(id),
            );
        }
        return this.#originals.get(id);
    }

    #pictures() {
        return (this.#view?.rows ?? []).flatMap(({ message, state }) =>
            state === 'stored' && !message.deleted_at ? (message.payload?.attachments ?? []).filter(isPicture) : []
        );
    }
}

customElements.define('parley-log', Log);
