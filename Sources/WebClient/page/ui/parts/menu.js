// Menus and small dialogs on a native popover: a click beside it or Escape closes it.

import { element } from '../dom.js';
import { icon } from './icon.js';

/** @typedef {{name: string, icon?: import('./icon.js').IconName, isDangerous?: boolean, onselect: () => unknown}} MenuItem */
/** Where a menu belongs. `returnTo` gets the focus when it closes, `at` is the place of the pointer that asked for it, and
 * `top` is shown above the items and comes after them for the arrow keys.
 * @typedef {{returnTo?: HTMLElement, at?: {x: number, y: number}, top?: HTMLElement}} MenuPlace */

/** Opens a menu at a button and focuses its first item. When it closes, the focus goes to `returnTo`, before `onselect`
 * of the chosen item is called.
 * @param {HTMLElement} anchor
 * @param {string} label the menu's name
 * @param {(MenuItem | false | null | undefined)[]} items
 * @param {MenuPlace} [place]
 */
export function openMenu(anchor, label, items, { returnTo = anchor, at, top } = {}) {
    const attributes = { class: 'menu', role: 'menu', 'aria-label': label, popover: 'auto', onkeydown: moveByKey };
    const menu = element(
        'div',
        attributes,
        items.filter((item) => !!item).map(({ name, icon: picture, isDangerous, onselect }) => {
            const onclick = () => {
                menu.hidePopover();
                onselect();
            };
            const item = { type: 'button', role: 'menuitem', tabindex: -1, class: isDangerous && 'dangerous', onclick };
            return element('button', item, picture && icon(picture), name);
        }),
        top,
    );
    menu.addEventListener('beforetoggle', ({ newState }) => {
        anchor.setAttribute('aria-expanded', String(newState === 'open'));
    });
    anchor.setAttribute('aria-haspopup', 'menu');
    show(menu, anchor, returnTo, at);
    menu.querySelector('button')?.focus();
}

/** Opens a small dialog at a button. It leaves the page when it is closed, and the focus returns.
 * @param {HTMLElement} anchor
 * @param {{label: string, class: string, returnTo?: HTMLElement}} options
 * @param {...import('../dom.js').Child} content the first element with `autofocus` gets the focus
 */
export function openPopover(anchor, { label, class: className, returnTo = anchor }, ...content) {
    const attributes = { class: `popover ${className}`, role: 'dialog', 'aria-label': label, popover: 'auto' };
    const popover = element('div', attributes, ...content);
    popover.addEventListener('keydown', (event) => {
        // A search field would keep the key to clear itself.
        if (event.key !== 'Escape') return;
        event.preventDefault();
        event.stopPropagation();
        popover.hidePopover();
    });
    show(popover, anchor, returnTo);
    return popover;
}

/**
 * @param {HTMLElement} popover
 * @param {HTMLElement} anchor
 * @param {HTMLElement} returnTo
 * @param {{x: number, y: number}} [at]
 */
function show(popover, anchor, returnTo, at) {
    popover.addEventListener('beforetoggle', ({ newState }) => {
        if (newState === 'closed' && popover.contains(document.activeElement)) returnTo.focus({ preventScroll: true });
    });
    popover.addEventListener('toggle', ({ newState }) => newState === 'closed' && popover.remove());
    // In the dialog around the anchor, if there is one: what is outside of a modal dialog is inert.
    (anchor.closest('dialog') ?? document.body).append(popover);
    popover.showPopover();
    place(popover, anchor, at);
}

/** Places the popover below the anchor, else above, with their starts in line if the window is wide enough; or at a point.
 * @param {HTMLElement} popover
 * @param {HTMLElement} anchor
 * @param {{x: number, y: number}} [at]
 */
function place(popover, anchor, at) {
    const { left, right, top, bottom } = at
        ? { left: at.x, right: at.x, top: at.y, bottom: at.y }
        : anchor.getBoundingClientRect();
    const { width, height } = popover.getBoundingClientRect();
    const isAtLeft = getComputedStyle(anchor).direction === 'ltr' ? left + width < innerWidth : right < width;
    const within = (/** @type {number} */ at, /** @type {number} */ end) => `${Math.max(8, Math.min(at, end - 8))}px`;
    popover.style.setProperty('left', within(isAtLeft ? left : right - width, innerWidth - width));
    popover.style.setProperty(
        'top',
        within(bottom + height < innerHeight ? bottom + 4 : top - height - 4, innerHeight - height),
    );
}

/** @param {KeyboardEvent} event */
function moveByKey(event) {
    const menu = /** @type {HTMLElement} */ (event.currentTarget);
    const items = /** @type {HTMLElement[]} */ ([...menu.querySelectorAll('[role="menuitem"]')]);
    const index = items.findIndex((item) => item === document.activeElement);
    const isInRow = items[index]?.parentElement !== menu;
    const forward = getComputedStyle(menu).direction === 'rtl' ? -1 : 1;
    const first = items.findIndex((item) => item.parentElement !== menu);
    // The row above the items is one step for ArrowUp and ArrowDown.
    /** @type {Record<string, number>} */
    const targets = {
        ArrowDown: isInRow ? 0 : index + 1,
        ArrowUp: isInRow ? first - 1 : index === 0 && first >= 0 ? first : index - 1,
        Home: 0,
        End: first > 0 ? first - 1 : -1,
        ...isInRow && { ArrowRight: index + forward, ArrowLeft: index - forward },
    };
    if (event.key === 'Tab') menu.hidePopover();
    if (!(event.key in targets)) return;
    event.preventDefault();
    event.stopPropagation();
    items.at(targets[event.key] % items.length)?.focus();
}
