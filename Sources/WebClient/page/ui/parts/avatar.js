// Profile pictures. Only pictures stored on this server are loaded; at other hosts, loading would reveal the reader.

import { element } from '../dom.js';

/** @import {ChatShape, Person, Thread} from '../../core/types.js' */
/** @typedef {{id: string, name: string, image?: string | null}} Subject a person, thread or room */

/** Builds the picture of a person or thread: an uploaded one, else initials on a colour that belongs to the id.
 * @param {Subject} subject
 * @param {Pick<ChatShape, 'fileURL'>} chat
 * @param {'small' | 'medium' | 'large'} [size]
 */
export function avatar({ id, name, image }, chat, size = 'medium') {
    const made = element('span', { class: `avatar ${size}`, 'aria-hidden': 'true' }, initials(name));
    made.style.setProperty('--hue', String(hue(id)));
    const attachmentID = image?.match(/^attachment:([0-9a-f-]{36})$/)?.[1];
    if (attachmentID) {
        const src = chat.fileURL(attachmentID, 'thumbnail');
        const picture = element('img', { alt: '', loading: 'lazy', decoding: 'async', src });
        picture.addEventListener('error', () => picture.remove());
        made.append(picture);
    }
    return made;
}

/** @param {Person} person
 * @returns {Subject} */
export function personSubject({ id, name, profile_image: image }) {
    return { id, name, image };
}

/** @param {Thread} thread
 * @returns {Subject} */
export function threadSubject({ id, title, image, peer }) {
    return peer ? personSubject(peer) : { id, name: title ?? '', image };
}

/** Returns the first letters of the first and last word.
 * @param {string} name
 */
function initials(name) {
    const words = name.trim().split(/\s+/);
    const ends = words.length > 1 ? [words[0], words[words.length - 1]] : words;
    // A letter or digit, else the first character as a whole: not half of an emoji.
    return ends.map((word) => word.match(/[\p{L}\p{N}]/u)?.[0] ?? [...word][0] ?? '').join('').toLocaleUpperCase();
}

/** Returns the colour of a person or thread, as the angle on the colour wheel.
 * @param {string} id
 */
export function hue(id) {
    const hash = [...id].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) >>> 0, 0);
    return (hash % 18) * 20;
}
