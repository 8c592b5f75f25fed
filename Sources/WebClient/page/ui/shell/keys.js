// Keys that work everywhere in the page. shortcuts.js lists them.

import { attempt, loaded } from '../parts/action.js';
import { focusComposer, goTo } from './router.js';

/** @import {ChatShape} from '../../core/types.js' */

/** What has a meaning of its own for keys. */
const controls = 'a, button, input, textarea, select, summary, audio, video, [role="button"], [contenteditable]';

/** Listens for keys as long as the page is open.
 * @param {ChatShape} chat
 */
export function followKeys(chat) {
    addEventListener('keydown', (event) => {
        if (event.defaultPrevented || event.isComposing || !chat.session.value) return;
        // An open dialog, menu or popover has its own keys.
        if (document.querySelector('dialog:modal, :popover-open')) return;
        if (handle(chat, event)) event.preventDefault();
    });
}

/** @param {ChatShape} chat @param {KeyboardEvent} event @returns {boolean} whether the key was for the page */
function handle(chat, event) {
    const { key, altKey, shiftKey } = event;
    const hasControl = event.ctrlKey || event.metaKey;
    const target = event.target instanceof Element ? event.target : document.body;
    const step = { ArrowDown: 1, ArrowUp: -1 }[key];
    if (altKey && !hasControl && step) return openNeighbour(step, shiftKey);
    if (altKey) return false;
    if (key === 'F6') return moveBetweenParts(shiftKey ? -1 : 1);
    if (hasControl && key === '/') return showShortcuts();
    if (hasControl && shiftKey && key.toLowerCase() === 'f') return searchHere();
    if (hasControl) return false;
    if (shiftKey && key === 'Escape') {
        markAllRead(chat);
        return true;
    }
    if (target.closest(controls)) return false;
    if (key === '?') return showShortcuts();
    // The key is typed where the focus is now.
    if (key === 'Escape' || (key.length === 1 && key !== ' ')) focusComposer();
    return false;
}

/** Marks all conversations as read.
 * @param {ChatShape} chat
 */
export function markAllRead(chat) {
    for (const { id, head, unread_count: unread } of chat.inbox.value?.threads ?? []) {
        if (unread > 0) chat.markRead(id, head);
    }
}

/** Opens the dialog that lists the keys. */
export function showShortcuts() {
    attempt(async () => (await loaded(import('./shortcuts.js'))).openShortcuts());
    return true;
}

function searchHere() {
    /** @type {import('./app.js').Conversation | null} */ (document.querySelector('parley-conversation'))?.searchHere();
    return true;
}

/** Opens the conversation that is shown below or above the open one.
 * @param {number} step @param {boolean} isUnreadOnly
 */
function openNeighbour(step, isUnreadOnly) {
    const links = /** @type {HTMLAnchorElement[]} */ ([...document.querySelectorAll('parley-inbox .thread-link')]);
    const index = links.findIndex((link) => link.hasAttribute('aria-current'));
    const after = step > 0 ? links.slice(index + 1) : links.slice(0, Math.max(index, 0)).reverse();
    const next = after.find((link) => !isUnreadOnly || link.closest('.unread'));
    if (!next) return true;
    goTo(next.hash);
    focusComposer();
    return true;
}

/** Moves the focus between the list, the messages and the text.
 * @param {number} step
 */
function moveBetweenParts(step) {
    const parts = ['parley-inbox', 'parley-log', 'parley-composer'].flatMap((name) => {
        const part = document.querySelector(name);
        return part?.checkVisibility() ? [part] : [];
    });
    const index = parts.findIndex((part) => part.contains(document.activeElement));
    const part = parts.at((index + step) % parts.length) ?? parts[0];
    const stop = part.querySelector('[aria-current], article[tabindex="0"], textarea, input');
    if (stop instanceof HTMLElement) stop.focus();
    return true;
}
