// What a message says, by its type.

import { element, p } from '../dom.js';
import { button } from '../parts/action.js';
import { icon } from '../parts/icon.js';
import { systemText } from '../parts/summary.js';
import { formatNumber, t } from '../../language/index.js';
import { renderText } from '../../text/render.js';
import { beginning } from '../../text/tokens.js';
import { isExpired } from './status.js';

/** @typedef {import('../../core/types.js').Message} Message */
/** @typedef {import('../../core/types.js').Payload} Payload */

/** Whether the page knows what the server did. Other actions say nothing. @param {Message} message */
export function isKnownAction({ payload }) {
    return ['joined', 'added', 'left', 'removed', 'renamed'].includes(String(payload?.action));
}

// The form of an emoji. Chromium needs tens of milliseconds to prepare `\p{RGI_Emoji}`, the list of all of them.
const tone = '\\p{Emoji_Modifier}';
const sign = `(?:(?!\\p{RI})\\p{Emoji_Presentation}|\\p{Extended_Pictographic}(?:\\ufe0f|(?=${tone})))${tone}?`;
const joined = `(?:\\u200d(?:\\p{Emoji_Presentation}|\\p{Extended_Pictographic}\\ufe0f?)${tone}?)*`;
const regionTags = '(?:[\\u{e0020}-\\u{e007e}]+\\u{e007f})?';
const emoji = `(?:\\p{RI}{2}|[#*\\d]\\ufe0f\\u20e3|${sign}${regionTags}${joined})`;
const fewEmoji = new RegExp(`^(?:${emoji}\\s*){1,6}$`, 'u');

/** Whether a message is a few emoji and nothing else. @param {Message} message */
export function isEmojiOnly({ type, payload }) {
    const text = payload?.text?.trim() ?? '';
    return type === 'message' && text.length <= 80 && !payload?.attachments?.length && fewEmoji.test(text);
}

/** Returns a text whose values are in `bdi` elements, so that a name in another script does not reorder the sentence.
 * @param {string} key @param {Record<string, string>} values @returns {Node[]}
 */
export function sentence(key, values) {
    const names = Object.keys(values);
    const places = Object.fromEntries(names.map((name, index) => [name, `\ue000${index}\ue001`]));
    return t(key, places).split(/\u2068?\ue000(\d)\ue001\u2069?/).map((part, index) =>
        index % 2 ? element('bdi', {}, values[names[Number(part)]]) : document.createTextNode(part)
    );
}

/** Returns the nodes of a message's text or of what is shown instead.
 * @param {Message} message
 * @param {{id: string, name: string}[]} mentioned the people whom the message mentions
 * @param {string} me
 * @param {(() => void) | null} showWhole shows all of a long text, which is cut; null: nothing is cut
 * @returns {Node[]}
 */
export function messageBody(message, mentioned, me, showWhole) {
    const { payload, type } = message;
    if (message.deleted_at || isExpired(message)) return [note('trash', t('conversation.deleted'))];
    if (!payload) return [note('clock', t('conversation.gone'))];
    if (type === 'system') return [element('p', { dir: 'auto' }, systemText(message, me))];
    if (type === 'encrypted') return [note('lock', t('conversation.encrypted'))];
    if (type === 'location') return location(payload);
    const { text = '' } = payload;
    const shown = showWhole ? beginning(text) : text;
    const nodes = renderText(shown, mentioned, me);
    if (showWhole && shown !== text) nodes.push(button(t('conversation.showMore'), showWhole, 'small'));
    if (type !== 'message') nodes.push(note('info', t('conversation.unknownType', { type })));
    return nodes;
}

/** @param {import('../parts/icon.js').IconName} name @param {string} text */
function note(name, text) {
    return p('note', icon(name), element('span', {}, text));
}

/** A place as a link to a map. @param {Payload} payload */
function location({ latitude, longitude, accuracy_m, label }) {
    const [north, east] = [Number(latitude), Number(longitude)];
    if (!Number.isFinite(north) || !Number.isFinite(east)) return [note('location', t('conversation.location'))];
    const map = `https://www.openstreetmap.org/?mlat=${north}&mlon=${east}#map=16/${north}/${east}`;
    const link = element(
        'a',
        { class: 'place', href: map, rel: 'noopener noreferrer', target: '_blank' },
        icon('location'),
        element('bdi', {}, typeof label === 'string' && label ? label : t('conversation.location')),
    );
    const coordinates = element('bdi', { dir: 'ltr' }, `${north.toFixed(5)}, ${east.toFixed(5)}`);
    const accuracy = typeof accuracy_m === 'number' &&
        t('conversation.accuracy', { metres: formatNumber(Math.round(accuracy_m)) });
    return [link, p('hint', coordinates, ' ', accuracy)];
}
