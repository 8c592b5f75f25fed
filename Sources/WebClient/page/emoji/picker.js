// The popover in which an emoji is chosen.

import { element, fill } from '../ui/dom.js';
import { attempt } from '../ui/parts/action.js';
import { read, write } from '../ui/shell/theme.js';
import { icon } from '../ui/parts/icon.js';
import { openPopover } from '../ui/parts/menu.js';
import { t } from '../language/index.js';
import { findEmoji, inTone, loadEmoji, tones } from './emoji.js';
import { readRecent, remember, usual } from './recent.js';

/** @typedef {import('./emoji.js').Emoji} Emoji */

const foundMax = 120;
const toneKey = 'parley.emoji.tone';

/** Asks for a reaction.
 * @param {HTMLElement} anchor
 * @param {(emoji: string) => void} onchoose
 * @param {HTMLElement} [returnTo]
 */
export function openReactionPicker(anchor, onchoose, returnTo) {
    open(anchor, t('emoji.chooseReaction'), onchoose, returnTo);
}

/** Asks for an emoji to insert.
 * @param {HTMLElement} anchor
 * @param {(emoji: string) => void} onchoose
 */
export function openEmojiPicker(anchor, onchoose) {
    open(anchor, t('emoji.chooseEmoji'), onchoose);
}

/** @param {HTMLElement} anchor @param {string} title @param {(emoji: string) => void} onchoose @param {HTMLElement} [returnTo] */
function open(anchor, title, onchoose, returnTo) {
    let tone = read(toneKey);
    /** @type {import('./emoji.js').Group[]} */
    let groups = [];
    const recent = readRecent().filter((emoji) => !usual.includes(emoji));
    const shown = new Set([...usual, ...recent]);

    /** @param {string} emoji @param {string} [name] */
    const button = (emoji, name) =>
        element('button', {
            type: 'button',
            class: 'emoji',
            tabindex: -1,
            title: name,
            onclick: () => {
                remember(emoji);
                dialog.hidePopover();
                onchoose(emoji);
            },
        }, emoji);
    const top = grid(usual.map((emoji) => button(emoji)));
    const results = element('div', { class: 'emoji-results' });
    const search = element('input', {
        type: 'search',
        class: 'input',
        'aria-label': t('emoji.search'),
        placeholder: t('emoji.search'),
        autocomplete: 'off',
        autofocus: true,
        oninput: () => show(),
        onkeydown: (/** @type {KeyboardEvent} */ event) => {
            const first = search.value.trim() ? results.querySelector('button') : top.querySelector('button');
            if (event.key === 'ArrowDown') first?.focus();
            else if (event.key === 'Enter' && search.value.trim()) first?.click();
            else return;
            event.preventDefault();
        },
    });
    const toneChoice = element(
        'select',
        {
            class: 'input tone',
            'aria-label': t('emoji.skinTone'),
            onchange: () => {
                tone = toneChoice.value;
                write(toneKey, tone);
                show();
            },
        },
        tones.map((value) => element('option', { selected: value === tone, value }, `✋${value}`)),
    );
    const dialog = openPopover(
        anchor,
        { label: title, class: 'emoji-dialog', returnTo },
        element(
            'div',
            { class: 'emoji-tools' },
            element('div', { class: 'search-field' }, icon('search'), search),
            toneChoice,
        ),
        top,
        results,
    );
    // On a touch screen the keyboard would cover the emoji.
    (matchMedia('(pointer: coarse)').matches ? top.querySelector('button') : search)?.focus();
    attempt(async () => {
        groups = await loadEmoji();
        show();
    });

    function show() {
        const query = search.value.trim();
        top.hidden = query !== '';
        if (query) {
            const found = findEmoji(groups, query).slice(0, foundMax).map((emoji) =>
                button(inTone(emoji, tone), emoji.name)
            );
            fill(results, found.length > 0 ? grid(found) : element('p', { class: 'muted' }, t('emoji.none')));
            return;
        }
        fill(results, recent.length > 0 && section('recent', recent.map((emoji) => button(emoji))));
        // A group at a time, so that no frame takes long.
        const sections = groups.values();
        const showNext = () => {
            const { value: group } = sections.next();
            if (!group || search.value.trim() || !dialog.isConnected) return;
            const members = group.members.map((emoji) => [inTone(emoji, tone), emoji.name]).filter(([emoji]) =>
                !shown.has(emoji)
            );
            results.append(section(group.name, members.map(([emoji, name]) => button(emoji, name))));
            requestAnimationFrame(showNext);
        };
        showNext();
    }
}

/** @param {string} name @param {HTMLElement[]} buttons */
function section(name, buttons) {
    return element('section', { class: 'emoji-group' }, element('h3', {}, t(`emoji.group.${name}`)), grid(buttons));
}

/** A grid with one tab stop; arrows move in it. @param {HTMLElement[]} buttons */
function grid(buttons) {
    buttons[0]?.setAttribute('tabindex', '0');
    return element('div', { class: 'emoji-grid', onkeydown: moveByKey }, ...buttons);
}

/** @param {KeyboardEvent} event */
function moveByKey(event) {
    const grid = /** @type {HTMLElement} */ (event.currentTarget);
    const buttons = /** @type {HTMLElement[]} */ ([...grid.children]);
    const index = buttons.findIndex((button) => button === document.activeElement);
    const style = getComputedStyle(grid);
    const columns = style.gridTemplateColumns.split(' ').length;
    const forward = style.direction === 'rtl' ? -1 : 1;
    /** @type {Record<string, number>} */
    const steps = { ArrowRight: forward, ArrowLeft: -forward, ArrowDown: columns, ArrowUp: -columns };
    const target = buttons[index + steps[event.key]];
    if (!(event.key in steps)) return;
    event.preventDefault();
    if (!target && event.key === 'ArrowUp') grid.closest('.popover')?.querySelector('input')?.focus();
    if (!target) return;
    buttons[index].tabIndex = -1;
    target.tabIndex = 0;
    target.focus();
}
