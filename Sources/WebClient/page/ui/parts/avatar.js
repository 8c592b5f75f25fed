// Profile pictures. Only pictures stored on this server are loaded; at other hosts, loading would reveal the reader.

import { element } from '../dom.js';

/** Builds the picture of a person or thread: an uploaded one, else initials on a colour that belongs to the id.
 * @param {{id: string, name: string, image: string | null | undefined}} subject
 * @param {Pick<import('../../core/types.js').ChatShape, 'fileURL'>} chat
 * @param {'small' | 'medium' | 'large'} [size]
 */
export function avatar({ id, name, image }, chat, size = 'medium') {
    const made = element('span', { class: `avatar ${size}`, 'aria-hidden': 'true' }, initials(name));
    made.style.setProperty('--hue', String(hue(id)));
    const attachmentID = image?.match(/^attachment:([0-9a-f-]{36})$/)?.[1];
    if (attachmentID) made.append(picture(attachmentID, chat));
    return made;
}

/** @param {import('../../core/types.js').Person} person */
export function personSubject({ id, name, profile_image }) {
    return { id, name, image: profile_image };
}

/** @param {import('../../core/types.js').Thread} thread */
export function threadSubject({ id, title, image, peer }) {
    return peer ? personSubject(peer) : { id, name: title ?? '', image };
}

/**
 * @param {string} attachmentID
 * @param {Pick<import('../../core/types.js').ChatShape, 'fileURL'>} chat
 */
function picture(attachmentID, chat) {
    const image = element('img', { alt: '', loading: 'lazy', src: chat.fileURL(attachmentID, 'thumbnail') });
    image.addEventListener('error', () => image.remove());
    return image;
}

/** @param {string} name */
function initials(name) {
    const words = name.trim().split(/\s+/);
    const letters = [words[0], words.length > 1 ? words[words.length - 1] : ''].map((word) =>
        // A letter or digit, not half of an emoji; else the first whole character.
        word.match(/[\p{L}\p{N}]/u)?.[0] ?? [...word][0] ?? ''
    );
    return letters.join('').toLocaleUpperCase();
}

/** @param {string} id */
function hue(id) {
    let hash = 0;
    for (const character of id) hash = (hash * 31 + character.charCodeAt(0)) >>> 0;
    return (hash % 18) * 20;
}
