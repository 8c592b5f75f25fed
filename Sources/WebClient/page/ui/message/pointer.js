// What the mouse and the finger do with messages: the bar beside the message under the mouse, the menu by a right click or a
// long press, the answer by a swipe, and who reacted.

import { element } from '../dom.js';
import { quickEmoji } from '../../emoji/recent.js';
import { attempt, iconButton } from '../parts/action.js';
import { onLongPress } from './long-press.js';
import { t } from '../../language/index.js';
import { pickReaction, toggleReaction } from './actions.js';
import { permissions } from './permissions.js';
import { nameReactors, openReactors } from './reactors.js';
import { onSwipe } from './swipe.js';

/** @typedef {import('../conversation/log.js').Log} Log */
/** @typedef {import('../conversation/message-row.js').MessageRow} MessageRow */

const quickMax = 3;
/** How far the bar stands above a message that leaves no room beside it. */
const lift = -30;

/** Follows the pointer over a log.
 * @param {Log} log
 */
export function followPointer(log) {
    const bar = element('div', { class: 'message-bar', role: 'toolbar', 'aria-label': t('conversation.quickActions') });
    // The text that is being written keeps the focus.
    bar.addEventListener('pointerdown', (event) => event.preventDefault());
    /** @type {MessageRow | undefined} */
    let shown;
    log.addEventListener('pointerover', ({ target, pointerType }) => {
        if (!(target instanceof Element)) return;
        if (pointerType === 'mouse') show(log.rowAt(target));
        nameReaction(target);
    });
    log.addEventListener('focusin', ({ target }) => target instanceof Element && nameReaction(target));
    log.addEventListener('pointerleave', () => show(undefined));
    onLongPress(log, (target, at) => {
        const row = log.rowAt(target);
        if (!row || row.element.classList.contains('editing')) return false;
        const reaction = target.closest('.reaction');
        if (reaction) attempt(() => openReactors(log.chat, row.row.message));
        else row.openActions(at);
        return true;
    });
    const answerable = (/** @type {Element} */ target) => {
        const row = log.rowAt(target);
        return row && permissions(row.row, log.thread, log.chat.session.value?.user.id).reply ? row.element : undefined;
    };
    onSwipe(log, answerable, (element) => {
        const row = log.rowAt(element);
        if (row) log.onreply(row.row.message);
    });
    const reaction = log.querySelector('.reaction:is(:hover, :focus)');
    if (reaction) nameReaction(reaction);
    const hovered = log.querySelector('article:hover');
    if (hovered && !matchMedia('(pointer: coarse)').matches) show(log.rowAt(hovered));

    /** @param {MessageRow | undefined} row */
    function show(row) {
        if (row === shown) return;
        shown = row;
        bar.parentElement?.classList.remove('wide');
        bar.remove();
        if (!row || row.element.classList.contains('editing')) return;
        const { message } = row.row;
        const may = permissions(row.row, log.thread, log.chat.session.value?.user.id);
        if (!may.react && !may.reply) return;
        bar.replaceChildren(
            ...quickEmoji(quickMax).map((emoji) => quickButton(row, emoji)),
            iconButton('emoji', t('conversation.addReaction'), () => {
                const opener = document.activeElement;
                return pickReaction(
                    log.chat,
                    row.row.message,
                    row.tools,
                    opener instanceof HTMLElement && opener !== document.body ? opener : row.element,
                );
            }, { tabindex: -1 }),
            iconButton('reply', t('conversation.replyToThis'), () => log.onreply(message), { tabindex: -1 }),
        );
        row.tools.prepend(bar);
        row.tools.classList.add('wide');
        // Beside the message it covers nothing. Of a message that begins above the view, the bar is at the view's edge.
        const column = row.tools.parentElement?.offsetWidth ?? 0;
        const isBeside = row.element.clientWidth - column > row.tools.offsetWidth + 56;
        const top = log.getBoundingClientRect().top - row.element.getBoundingClientRect().top;
        row.tools.classList.toggle('beside', isBeside);
        row.tools.style.setProperty('inset-block-start', `${Math.max(isBeside ? -2 : lift, top + 8)}px`);
    }

    /** @param {MessageRow} row @param {string} emoji */
    function quickButton(row, emoji) {
        const name = t('conversation.reactWith', { emoji });
        const onclick = () => toggleReaction(log.chat, row.row.message, emoji);
        const names = { 'aria-label': name, title: name };
        return element('button', { type: 'button', class: 'emoji', tabindex: -1, onclick, ...names }, emoji);
    }

    /** @param {Element} target */
    function nameReaction(target) {
        const reaction = target.closest('.reaction');
        const row = reaction && log.rowAt(reaction);
        if (reaction instanceof HTMLElement && row) {
            void nameReactors(log.chat, row.row.message, reaction, log.reactionTitles);
        }
    }
}
