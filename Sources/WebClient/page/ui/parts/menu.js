// Menus on a native popover: a click beside it or Escape closes it, arrows move, letters jump.

import { element } from '../dom.js';
import { icon } from './icon.js';

/** @typedef {{name: string, icon?: import('./icon.js').IconName, isDangerous?: boolean, onselect: () => void}} MenuItem */

/** Opens a menu at a button and focuses its first item. When it closes, the focus returns to the button, before
 * `onselect` of the chosen item is called.
 * @param {HTMLElement} anchor
 * @param {string} label the menu's name
 * @param {(MenuItem | false | null | undefined)[]} items
 */
export function openMenu(anchor, label, items) {
    const menu = element(
        'div',
        { class: 'menu', role: 'menu', 'aria-label': label, popover: 'auto', onkeydown: moveByKey },
        items.filter((item) => !!item).map((item) =>
            element(
                'button',
                {
                    type: 'button',
                    role: 'menuitem',
                    tabindex: -1,
                    class: item.isDangerous ? 'dangerous' : null,
                    onclick: () => {
                        menu.hidePopover();
                        item.onselect();
                    },
                },
                item.icon && icon(item.icon),
                element('span', {}, item.name),
            )
        ),
    );
    menu.addEventListener('beforetoggle', (event) => {
        if (event.newState !== 'closed') return;
        anchor.setAttribute('aria-expanded', 'false');
        if (menu.contains(document.activeElement)) anchor.focus();
    });
    menu.addEventListener('toggle', (event) => {
        if (event.newState === 'closed') menu.remove();
    });
    anchor.setAttribute('aria-haspopup', 'menu');
    anchor.setAttribute('aria-expanded', 'true');
    // In the dialog around the anchor, if there is one: what is outside of a modal dialog is inert.
    (anchor.closest('dialog') ?? document.body).append(menu);
    menu.showPopover();
    place(menu, anchor);
    /** @type {HTMLElement | null} */ (menu.firstElementChild)?.focus();
}

/** Places the menu below the anchor and within the window, else above.
 * @param {HTMLElement} menu
 * @param {HTMLElement} anchor
 */
function place(menu, anchor) {
    const { left, right, top, bottom } = anchor.getBoundingClientRect();
    const { width, height } = menu.getBoundingClientRect();
    const isLeftToRight = getComputedStyle(anchor).direction === 'ltr';
    const hasRoomToEnd = isLeftToRight ? left + width <= innerWidth - 8 : right - width >= 8;
    const x = isLeftToRight === hasRoomToEnd ? left : right - width;
    const y = bottom + height + 12 <= innerHeight ? bottom + 4 : top - height - 4;
    menu.style.setProperty('left', `${Math.max(8, Math.min(x, innerWidth - width - 8))}px`);
    menu.style.setProperty('top', `${Math.max(8, y)}px`);
}

/** @param {KeyboardEvent} event */
function moveByKey(event) {
    const menu = /** @type {HTMLElement} */ (event.currentTarget);
    const items = /** @type {HTMLElement[]} */ ([...menu.children]);
    const index = items.findIndex((item) => item === document.activeElement);
    /** @type {Record<string, number>} */
    const targets = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: -1 };
    let target = targets[event.key];
    if (event.key === 'Tab') menu.hidePopover();
    else if (target === undefined && event.key.length === 1) {
        const letter = event.key.toLocaleLowerCase();
        const after = [...items.slice(index + 1), ...items.slice(0, index + 1)];
        const match = after.find((item) => item.textContent?.trim().toLocaleLowerCase().startsWith(letter));
        if (match) target = items.indexOf(match);
    }
    if (target === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    items.at(target % items.length)?.focus();
}
