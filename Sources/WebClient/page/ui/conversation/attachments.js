// The files of a message: pictures, sound, films, and links to everything else.

import { div, element } from '../dom.js';
import { icon } from '../parts/icon.js';
import { formatSize, t } from '../../language/index.js';

/** @typedef {import('../../core/types.js').Attachment} Attachment */
/** @typedef {import('../../core/types.js').OutgoingFile} OutgoingFile */
/** @typedef {Pick<import('../../core/types.js').ChatShape, 'fileURL'>} Files */

const pictureTypes = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);
// What the server sends inline; everything else is a download.
const filmTypes = new Set(['video/mp4', 'video/webm', 'video/ogg']);
const soundTypes = new Set(['audio/mpeg', 'audio/mp4', 'audio/webm', 'audio/ogg', 'application/ogg']);

// What may be drawn without a click. A reader's memory holds four bytes for each pixel, of each frame at times.
const pixelsMax = 1_000_000;

/** Whether the page shows a file as a picture: it has a thumbnail, or few pixels.
 * @param {Attachment} file */
export function isPicture(file) {
    return pictureTypes.has(file.content_type ?? '') && pixels(file) > 0 &&
        (!!file.thumbnail || pixels(file) <= pixelsMax);
}

/** The variant that is in the log. Small GIFs move there, larger ones where they are opened.
 * @param {Attachment} file @returns {'original' | 'thumbnail'} */
export function variantShown(file) {
    const moves = file.content_type === 'image/gif' && pixels(file) <= pixelsMax;
    return file.thumbnail && !moves ? 'thumbnail' : 'original';
}

/** @param {Attachment} file */
function pixels({ width = 0, height = 0 }) {
    return width * height;
}

/** The name without characters that turn the direction of writing: they could show `exe.jpg` for `gpj.exe`.
 * @param {Attachment} file */
export function nameOf({ name }) {
    return name?.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '') || t('conversation.unnamedFile');
}

/** Builds the view of a stored file.
 * @param {Attachment} file @param {Files} chat @param {(file: Attachment) => void} onopen opens a picture
 */
export function attachmentView(file, chat, onopen) {
    if (isPicture(file)) return picture(file, chat, onopen);
    const type = file.content_type ?? '';
    const player = filmTypes.has(type) ? 'video' : soundTypes.has(type) ? 'audio' : null;
    return player
        ? element('div', { class: `player ${player}` }, media(player, file, chat), fileLink(file, chat))
        : fileLink(file, chat);
}

/** A button with the thumbnail. Size and colour are known before the picture arrives, so nothing moves.
 * @param {Attachment} file @param {Files} chat @param {(file: Attachment) => void} onopen
 */
function picture(file, chat, onopen) {
    const name = nameOf(file);
    const image = element('img', {
        alt: name,
        loading: 'lazy',
        decoding: 'async',
        src: chat.fileURL(file.id, variantShown(file)),
        draggable: 'false',
    });
    const label = t('conversation.open', { name });
    const attributes = { type: 'button', class: 'picture', 'aria-label': label, onclick: () => onopen(file) };
    const made = element('button', attributes, image);
    const values = { '--width': file.width, '--height': file.height, '--colour': averageColour(file.thumbhash ?? '') };
    for (const [name, value] of Object.entries(values)) if (value) made.style.setProperty(name, String(value));
    return made;
}

/** @param {'video' | 'audio'} name @param {Attachment} file @param {Files} chat */
function media(name, file, chat) {
    const src = chat.fileURL(file.id, 'original');
    // The first frame of a film may have as many pixels as its author likes.
    const preload = name === 'audio' ? 'metadata' : 'none';
    const poster = file.thumbnail && chat.fileURL(file.id, 'thumbnail');
    return element(name, { src, poster, preload, controls: true, playsinline: true, 'aria-label': nameOf(file) });
}

/** @param {Attachment} file @param {Files} chat */
function fileLink(file, chat) {
    const name = nameOf(file);
    return element(
        'a',
        { class: 'file', href: chat.fileURL(file.id, 'original'), download: name },
        icon('download'),
        element('bdi', { class: 'file-name' }, name),
        element('span', { class: 'hint' }, file.size === undefined ? '' : ` ${formatSize(file.size)}`),
    );
}

/** Builds the view of a file that is on its way: preview, name and progress.
 * @param {OutgoingFile} file
 */
export function outgoingView(file) {
    return div(
        'file outgoing',
        filePreview(file.type, file.file),
        element('bdi', { class: 'file-name' }, file.name),
        element('span', { class: 'hint' }, ` ${formatSize(file.size)}`),
        element('progress', {
            max: Math.max(file.size, 1),
            value: file.sent,
            'aria-label': t('conversation.progress', { name: file.name }),
        }),
    );
}

/** A small picture of a file that is on this device, else an icon.
 * @param {string} type @param {Blob | null} file
 */
export function filePreview(type, file) {
    if (!file || !pictureTypes.has(type)) return icon('file');
    const address = URL.createObjectURL(file);
    const forget = () => URL.revokeObjectURL(address);
    return element('img', { class: 'preview', alt: '', src: address, onload: forget, onerror: forget });
}

/** Returns the average colour of a picture as CSS writes it, known before the picture arrives; null if the hash is not valid. A
 * ThumbHash begins with the average in the colour space of the algorithm: https://evanw.github.io/thumbhash/
 * @param {string} hash base64
 */
export function averageColour(hash) {
    const [first, second, third] = atobOrEmpty(hash);
    if (third === undefined) return null;
    const bits = first | (second << 8) | (third << 16);
    const light = (bits & 63) / 63;
    const yellow = ((bits >> 6) & 63) / 31.5 - 1;
    const red = ((bits >> 12) & 63) / 31.5 - 1;
    const b = light - (2 / 3) * yellow;
    const r = (3 * light - b + red) / 2;
    const percent = (/** @type {number} */ part) => `${Math.round(Math.min(Math.max(part, 0), 1) * 100)}%`;
    return `rgb(${percent(r)} ${percent(r - red)} ${percent(b)})`;
}

/** @param {string} text */
function atobOrEmpty(text) {
    try {
        return [...atob(text)].map((character) => character.charCodeAt(0));
    } catch {
        return [];
    }
}
