// The rows of the inbox. Thousands of conversations stay fast: 100 rows are in the page, more while scrolling.

import { isMuted } from '../../core/state/attention.js';
import { arrange, div, element, fill, p, words } from '../dom.js';
import { formatFacts, formatNumber, t } from '../../language/index.js';
import { firstPart } from '../../text/tokens.js';
import { attempt, iconButton, loaded } from '../parts/action.js';
import { sentence } from '../conversation/body.js';
import { onLongPress } from '../message/long-press.js';
import { avatar, threadSubject } from '../parts/avatar.js';
import { icon } from '../parts/icon.js';
import { summary, typingText } from '../parts/summary.js';
import { shortTime, timeElement } from '../parts/time.js';
import { threadAddress, writeIn } from '../shell/router.js';

/** @import {ChatShape, Thread} from '../../core/types.js' */

const firstRows = 100;
const moreRows = 50;
const countMax = 999;
/** How much of the last line a screen reader reads: as much as a row shows. */
const readMax = 100;

/** Builds the list, which is empty until the first call of `show`.
 * @param {ChatShape} chat
 */
export function threadList(chat) {
    /** @type {Map<string, ReturnType<typeof threadRow>>} */
    const rows = new Map();
    let limit = firstRows;
    let showAgain = () => {};
    const items = element('ul', {
        class: 'threads',
        role: 'list',
        'aria-label': t('inbox.list'),
        onfocusin: (/** @type {FocusEvent} */ { target }) => {
            const found = [...rows].find(([, { item }]) => target instanceof Node && item.contains(target));
            if (found) setStop(found[0]);
        },
    });
    /** @type {string | null} */
    let stop = null;
    /** @type {Map<string, HTMLElement>} */
    const heads = new Map();
    // A right click or a long press opens the menu of a row.
    onLongPress(items, (target, at) => {
        const row = [...rows.values()].find(({ item }) => item.contains(target));
        row?.openMenu(at);
        return !!row;
    });
    const empty = p('empty');
    const bottom = div('threads-end');
    const observer = new IntersectionObserver((entries) => {
        if (!entries.at(-1)?.isIntersecting) return;
        limit += moreRows;
        showAgain();
    }, { rootMargin: '600px' });
    return {
        show,
        end,
        element: div('', items, empty, bottom),
        link: (/** @type {string} */ id) => rows.get(id)?.link,
    };

    /** Shows the threads in this order.
     * @param {Thread[]} threads
     * @param {string | null} openThreadID
     * @param {string} emptyText what is shown without threads
     * @param {((thread: Thread) => string) | null} [section] the key of the heading above a thread
     */
    function show(threads, openThreadID, emptyText, section = null) {
        showAgain = () => show(threads, openThreadID, emptyText, section);
        const visible = threads.slice(0, limit);
        const ids = new Set(visible.map(({ id }) => id));
        for (const [id, row] of rows) {
            if (ids.has(id)) continue;
            row.end();
            rows.delete(id);
        }
        let last = '';
        arrange(
            items,
            visible.flatMap((thread) => {
                const row = rowOf(thread).show(thread, thread.id === openThreadID);
                const key = section?.(thread) ?? last;
                if (key === last) return [row];
                last = key;
                return [headOf(key), row];
            }),
        );
        // The list is one stop of the Tab key: the row that had the focus last, else the open one, else the first.
        const hasFocus = items.contains(document.activeElement);
        if (!hasFocus || !rows.has(stop ?? '')) setStop(rows.has(openThreadID ?? '') ? openThreadID : visible[0]?.id);
        empty.textContent = threads.length === 0 ? emptyText : '';
        observer.disconnect();
        if (threads.length > limit) observer.observe(bottom);
    }

    /** @param {string | null | undefined} id */
    function setStop(id) {
        rows.get(stop ?? '')?.setStop(false);
        stop = id ?? null;
        rows.get(stop ?? '')?.setStop(true);
    }

    /** @param {string} key */
    function headOf(key) {
        const head = heads.get(key) ?? element('li', { class: 'threads-head' }, element('h2', {}, t(key)));
        heads.set(key, head);
        return head;
    }

    /** @param {Thread} thread */
    function rowOf(thread) {
        const row = rows.get(thread.id) ?? threadRow(chat, thread);
        rows.set(thread.id, row);
        return row;
    }

    /** Ends all that the rows follow. */
    function end() {
        observer.disconnect();
        for (const row of rows.values()) row.end();
        rows.clear();
    }
}

/** Builds the row of a thread.
 * @param {ChatShape} chat
 * @param {Thread} thread
 */
function threadRow(chat, thread) {
    const { id, peer } = thread;
    let isOnline = false;
    let typing = '';
    let draft = '';
    let isOpen = false;
    let shownOn = '';
    const onclick = (/** @type {PointerEvent} */ event) => {
        // A key makes a click without a pointer.
        const isPrecise = event.pointerType === 'mouse' || event.detail === 0;
        if (!isPrecise || event.ctrlKey || event.metaKey || event.shiftKey) return;
        // With a mouse or a keyboard, writing comes next. On a touch screen, the keyboard would cover the conversation.
        event.preventDefault();
        writeIn(id);
    };
    const link = element('a', { class: 'thread-link', href: threadAddress(id), tabindex: -1, onclick });
    /** @param {{x: number, y: number}} [at] the place of the pointer */
    const openMenu = async (at) => {
        const { openThreadMenu } = await loaded(import('./thread-menu.js'));
        openThreadMenu(chat, thread, options, at);
    };
    /** @type {HTMLButtonElement} */
    const options = iconButton('more', '', () => openMenu(), { class: 'icon-button thread-options', tabindex: -1 });
    const item = element('li', { class: 'thread' }, link, options);
    const endings = [
        chat.typing(id).subscribe((people) => change(() => typing = typingText(people))),
        chat.draft(id).subscribe(({ text, fileIDs }) =>
            change(() => draft = text.replace(/\s+/g, ' ').trim() || filesText(fileIDs.length))
        ),
        peer && chat.presence(peer.id).subscribe(({ presence }) => change(() => isOnline = presence === 'online')),
    ];
    return {
        show,
        link,
        item,
        end,
        openMenu: (/** @type {{x: number, y: number}} */ at) => attempt(() => openMenu(at)),
        setStop: (/** @type {boolean} */ isStop) => link.tabIndex = options.tabIndex = isStop ? 0 : -1,
    };

    /** Shows the thread as it is now. Returns the row's element.
     * @param {Thread} changed
     * @param {boolean} isNowOpen
     */
    function show(changed, isNowOpen) {
        const today = new Date().toDateString();
        const isSame = changed === thread && today === shownOn && isNowOpen === isOpen;
        thread = changed;
        shownOn = today;
        isOpen = isNowOpen;
        if (isOpen) link.setAttribute('aria-current', 'page');
        else link.removeAttribute('aria-current');
        if (!isSame) draw();
        return item;
    }

    /** Draws the row again if the change makes a difference.
     * @param {() => void} apply
     */
    function change(apply) {
        const before = [typing, draft, isOnline].join();
        apply();
        if ([typing, draft, isOnline].join() !== before) draw();
    }

    /** Ends all that the row follows. */
    function end() {
        for (const end of endings) end?.();
    }

    function draw() {
        const { kind, unread_count: unread, mention_count: mentions, me, last_activity_at: at } = thread;
        const subject = threadSubject(thread);
        const isQuiet = isMuted(thread) || me.notify === 'none';
        const isInvited = me.status === 'invited';
        const line = secondLine();
        item.classList.toggle('unread', unread > 0 || isInvited);
        link.ariaLabel = formatFacts([
            subject.name,
            unread > 0 && t('inbox.unreadCount', { count: unread }),
            mentions > 0 && t('inbox.mentionCount', { count: mentions }),
            isOnline && t('inbox.online'),
            firstPart(line.textContent ?? '', readMax),
            shortTime(at),
            me.pinned && t('inbox.pinned'),
            isQuiet && t('inbox.muted'),
        ]);
        options.title = options.ariaLabel = t('inbox.optionsFor', { title: subject.name });
        const count = formatNumber(Math.min(unread, countMax)) + (unread > countMax ? '+' : '');
        fill(
            link,
            div(isOnline ? 'presence online' : 'presence', avatar(subject, chat)),
            words('thread-title', kind !== 'direct' && icon(kind === 'room' ? 'room' : 'people'), subject.name),
            timeElement(at, shortTime(at)),
            line,
            div(
                'thread-marks',
                isQuiet && icon('muted'),
                me.pinned && icon('pin'),
                mentions > 0 && words('badge', '@'),
                unread > 0 && words(isQuiet ? 'badge quiet' : 'badge', count),
                isInvited && words('badge', formatNumber(1)),
            ),
        );
    }

    /** Says who is typing, else what the user began to write, else the last message. */
    function secondLine() {
        const { kind, me, last_message: last } = thread;
        if (me.status === 'invited') return words('thread-line strong', t('inbox.invitation'));
        if (typing) return words('thread-line strong', typing);
        if (draft && !isOpen) return words('thread-line', words('draft', t('inbox.draft')), ` ${draft}`);
        if (!last) return words('thread-line');
        const ownID = chat.session.value?.user.id;
        const text = summary(last, ownID);
        const name = last.sender?.name;
        if (!name || (kind === 'direct' && last.sender?.id !== ownID)) return words('thread-line', text);
        const isOwn = last.sender?.id === ownID;
        const said = isOwn ? sentence('inbox.own', { text }) : sentence('inbox.from', { name, text });
        return element('span', { class: 'thread-line said' }, ...said);
    }
}

/** @param {number} count */
function filesText(count) {
    return count === 0 ? '' : t('shell.messageFiles', { count });
}
