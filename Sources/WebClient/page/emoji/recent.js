// The emoji that this device has chosen last.

import { read, write } from '../ui/shell/theme.js';

export const usual = ['👍', '❤️', '😂', '🎉', '😮', '😢'];
const recentMax = 12;
const recentKey = 'parley.emoji.recent';

/** The emoji that were chosen last, the newest first. */
export function readRecent() {
    return read(recentKey).split(' ').filter((emoji) => emoji);
}

/** The emoji to react with at once: those that were chosen last, then the usual ones.
 * @param {number} count
 */
export function quickEmoji(count) {
    return [...new Set([...readRecent(), ...usual])].slice(0, count);
}

/** @param {string} emoji */
export function remember(emoji) {
    const recent = [emoji, ...readRecent().filter((other) => other !== emoji)];
    write(recentKey, recent.slice(0, recentMax).join(' '));
}
