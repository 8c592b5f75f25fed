// The dialogs in which an emoji is chosen.

import { element, fill } from '../ui/dom.js';
import { attempt } from '../ui/parts/action.js';
import { openDialog } from '../ui/parts/dialog.js';
import { icon } from '../ui/parts/icon.js';
import { t } from '../language/index.js';
import { findEmoji, inTone, loadEmoji, tones } from './emoji.js';

/** @typedef {import('./emoji.js').Emoji} Emoji */

const usual = ['👍', '❤️', '😂', '🎉', '😮', '😢'];
const recentMax = 12;
const foundMax = 120;
const recentKey = 'parley.emoji.recent';
const toneKey = 'parley.emoji.tone';

/** Asks for a reaction. @param {(emoji: string) => void} onchoose */
export function openReactionDialog(onchoose) {
    open(t('emoji.chooseReaction'), onchoose);
}

/** Asks for an emoji to insert. @param {(emoji: string) => void} onchoose */
export function openEmojiDialog(onchoose) {
    open(t('emoji.chooseEmoji'), onchoose);
}

/** @param {string} title @param {(emoji: string) => void} onchoose */
function open(title, onchoose) {
    let tone = read(toneKey);
    /** @type {import('./emoji.js').Group[]} */
    let groups = [];
    const recent = readRecent().filter((emoji) => !usual.includes(emoji));
    const shown = new Set([...usual, ...recent]);
    /** @type {string | null} */
    let chosen = null;

    /** @param {string} emoji @param {string} [name] */
    const button = (emoji, name) =>
        element('button', {
            type: 'button',
            class: 'emoji',
            tabindex: -1,
            title: name,
            onclick: () => {
                chosen = emoji;
                dialog.close();
            },
        }, emoji);
    const top = grid(usual.map((emoji) => button(emoji)));
    const results = element('div', { class: 'emoji-results' });
    const search = element('input', {
        type: 'search',
        class: 'input',
        'aria-label': t('emoji.search'),
        placeholder: t('emoji.search'),
        oninput: () => show(),
        onkeydown: (/** @type {KeyboardEvent} */ event) => {
            if (event.key !== 'Enter' || !search.value.trim()) return;
            event.preventDefault();
            results.querySelector('button')?.click();
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
    const dialog = openDialog(
        {
            title,
            class: 'emoji-dialog',
            onclose: () => {
                if (chosen === null) return;
                remember(chosen);
                onchoose(chosen);
            },
        },
        top,
        element(
            'div',
            { class: 'emoji-tools' },
            element('div', { class: 'search-field' }, icon('search'), search),
            toneChoice,
        ),
        results,
    );
    top.querySelector('button')?.focus();
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
            if (!group || search.value.trim() || !dialog.open) return;
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
    if (!target) return;
    buttons[index].tabIndex = -1;
    target.tabIndex = 0;
    target.focus();
}

function readRecent() {
    return read(recentKey).split(' ').filter((emoji) => emoji);
}

/** @param {string} emoji */
function remember(emoji) {
    const recent = [emoji, ...readRecent().filter((other) => other !== emoji)];
    write(recentKey, recent.slice(0, recentMax).join(' '));
}

/** @param {string} key */
function read(key) {
    try {
        return localStorage.getItem(key) ?? '';
    } catch {
        return '';
    }
}

/** @param {string} key @param {string} value empty: nothing is stored */
function write(key, value) {
    try {
        if (value) localStorage.setItem(key, value);
        else localStorage.removeItem(key);
    } catch {
        // The browser stores nothing.
    }
}
