// Menus on a native popover: a click beside it or Escape closes it, arrows move.

import { element } from '../dom.js';
import { icon } from './icon.js';

/** @typedef {{name: string, icon?: import('./icon.js').IconName, isDangerous?: boolean, onselect: () => unknown}} MenuItem */

/** Opens a menu at a button and focuses its first item. When it closes, the focus goes to `returnTo`, before `onselect`
 * of the chosen item is called.
 * @param {HTMLElement} anchor
 * @param {string} label the menu's name
 * @param {(MenuItem | false | null | undefined)[]} items
 * @param {HTMLElement} [returnTo]
 */
export function openMenu(anchor, label, items, returnTo = anchor) {
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
    );
    menu.addEventListener('beforetoggle', ({ newState }) => {
        anchor.setAttribute('aria-expanded', String(newState === 'open'));
        if (newState === 'closed' && menu.contains(document.activeElement)) returnTo.focus();
    });
    menu.addEventListener('toggle', ({ newState }) => newState === 'closed' && menu.remove());
    anchor.setAttribute('aria-haspopup', 'menu');
    // In the dialog around the anchor, if there is one: what is outside of a modal dialog is inert.
    (anchor.closest('dialog') ?? document.body).append(menu);
    menu.showPopover();
    place(menu, anchor);
    /** @type {HTMLElement | null} */ (menu.firstElementChild)?.focus();
}

/** Places the menu below the anchor, else above, with their starts in line if the window is wide enough.
 * @param {HTMLElement} menu
 * @param {HTMLElement} anchor
 */
function place(menu, anchor) {
    const { left, right, top, bottom } = anchor.getBoundingClientRect();
    const { width, height } = menu.getBoundingClientRect();
    const isAtLeft = getComputedStyle(anchor).direction === 'ltr' ? left + width < innerWidth : right < width;
    const within = (/** @type {number} */ at, /** @type {number} */ end) => `${Math.max(8, Math.min(at, end - 8))}px`;
    menu.style.setProperty('left', within(isAtLeft ? left : right - width, innerWidth - width));
    menu.style.setProperty(
        'top',
        within(bottom + height < innerHeight ? bottom + 4 : top - height - 4, innerHeight - height),
    );
}

/** @param {KeyboardEvent} event */
function moveByKey(event) {
    const menu = /** @type {HTMLElement} */ (event.currentTarget);
    const items = /** @type {HTMLElement[]} */ ([...menu.children]);
    const index = items.findIndex((item) => item === document.activeElement);
    /** @type {Record<string, number>} */
    const targets = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: -1 };
    if (event.key === 'Tab') menu.hidePopover();
    if (!(event.key in targets)) return;
    event.preventDefault();
    event.stopPropagation();
    items.at(targets[event.key] % items.length)?.focus();
}
