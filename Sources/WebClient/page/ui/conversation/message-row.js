// One message of the log. The element stays the same as long as the message is shown; only parts that changed are built
// anew, so that focus, selection, players and an open editor survive.

import { element, fill } from '../dom.js';
import { iconButton } from '../parts/icon.js';
import { t } from '../../language/index.js';
import { editor } from './editor.js';
import { parts } from './row-parts.js';
import { isKnownAction } from './body.js';
import { isExpired } from './status.js';

/** @typedef {import('../../core/types.js').Row} Row */
/** @typedef {import('../../core/types.js').Message} Message */

/** What a row asks of the log around it.
 * @typedef {object} Host
 * @property {import('../../core/types.js').ChatShape} chat
 * @property {string} me the caller's id
 * @property {boolean} isDirect
 * @property {Map<string, import('../../core/types.js').Person>} people members by id
 * @property {(message: Message) => Message | null | undefined} original the message that this one answers; undefined
 * until it is known
 * @property {(messageID: string) => void} showMessage
 * @property {(row: Row, button: HTMLElement) => void} openActions
 * @property {(file: import('../../core/types.js').Attachment) => void} openPicture
 */

/** How a message stands among others.
 * @typedef {{isContinued: boolean, status: {key: string, count: number} | null}} Place
 */

/** Everything that the parts of a row are built from.
 * @typedef {{row: Row, place: Place, host: Host, isOwn: boolean, isGone: boolean}} RowState
 */

export class MessageRow {
    #host;
    /** What each part was built from. @type {Map<HTMLElement, string>} */
    #keys = new Map();
    /** @type {Place} */
    #place = { isContinued: false, status: null };
    #isActive = false;
    /** @type {HTMLElement | null} */
    #editor = null;
    /** @type {Record<string, HTMLElement>} */
    #slots = {};
    #actions = iconButton('more', t('conversation.actions'), () => this.openActions(), {
        class: 'icon-button actions-button',
        'aria-haspopup': 'menu',
    });

    /** @param {Row} row @param {Host} host @param {boolean} isAnnounced whether screen readers read it when it appears */
    constructor(row, host, isAnnounced) {
        this.row = row;
        this.#host = host;
        for (const name of Object.keys(parts)) this.#slots[name] = element('div', { class: name, hidden: true });
        const { portrait, sender, reply, attachments, body, meta, failure, reactions } = this.#slots;
        const line = element('div', { class: 'line' }, body, meta);
        const bubble = element(
            'div',
            { class: 'bubble', id: `message-${row.key}` },
            sender,
            reply,
            attachments,
            line,
            failure,
        );
        this.element = element(
            'article',
            { 'data-id': row.key, tabindex: -1, 'aria-labelledby': bubble.id, 'aria-live': isAnnounced ? null : 'off' },
            portrait,
            element('div', { class: 'column' }, bubble, reactions),
            this.#actions,
        );
        // Only the message is announced, not what changes in it later.
        if (isAnnounced) setTimeout(() => this.element.setAttribute('aria-live', 'off'), 5000);
    }

    /** Shows the present state of the message.
     * @param {Row} row @param {Place} place
     */
    update(row, place) {
        this.row = row;
        this.#place = place;
        const { message } = row;
        const isOwn = message.sender?.id === this.#host.me;
        const isGone = message.deleted_at !== null || isExpired(message);
        const isSystem = message.type === 'system';
        const kinds = {
            own: isOwn,
            system: isSystem,
            continued: place.isContinued,
            pending: row.state === 'sending',
            failed: row.state === 'failed',
            mentioning: !isOwn && !isGone && message.mentions.includes(this.#host.me),
            editing: this.#editor !== null,
        };
        const classes = Object.entries(kinds).filter(([, is]) => is).map(([kind]) => kind);
        this.element.className = ['message', ...classes].join(' ');
        if (row.state === 'stored') this.element.dataset.seq = String(message.seq);
        // Actions of the server that this page does not know say nothing.
        this.element.hidden = isSystem && !isGone && !isKnownAction(message);
        const state = { row, place, host: this.#host, isOwn, isGone };
        for (const [name, part] of Object.entries(parts)) this.#show(this.#slots[name], part, state);
        this.setActive(this.#isActive);
    }

    /** Makes the controls in the row stops of the Tab key, or not. From outside, the log as a whole is one stop. Its menu
     * opens by Enter.
     * @param {boolean} isActive
     */
    setActive(isActive) {
        this.#isActive = isActive;
        for (const control of this.element.querySelectorAll('a, button, audio, video')) {
            const isReachable = (isActive && control !== this.#actions) || this.#editor?.contains(control);
            control.setAttribute('tabindex', isReachable ? '0' : '-1');
        }
    }

    openActions() {
        this.#host.openActions(this.row, this.#actions);
    }

    /** Replaces the text by a textbox until it is saved or given up. */
    edit() {
        if (this.#editor) return this.#editor.querySelector('textarea')?.focus();
        const { message } = this.row;
        this.#editor = editor(
            String(message.payload?.text ?? ''),
            (text) => this.#host.chat.edit(message, text),
            () => {
                this.#editor = null;
                this.#keys.delete(this.#slots.body);
                this.update(this.row, this.#place);
                this.element.focus({ preventScroll: true });
            },
        );
        fill(this.#slots.body, this.#editor);
        this.#slots.body.hidden = false;
        this.update(this.row, this.#place);
        this.#editor.querySelector('textarea')?.focus();
    }

    /** Builds a part unless it is built from the same already.
     * @param {HTMLElement} slot @param {import('./row-parts.js').Part} part @param {RowState} state
     */
    #show(slot, part, state) {
        const key = JSON.stringify(part.key(state));
        if (this.#keys.get(slot) === key || (slot === this.#slots.body && this.#editor)) return;
        this.#keys.set(slot, key);
        const focused = [...slot.querySelectorAll('a, button')].findIndex((control) =>
            control === document.activeElement
        );
        fill(slot, ...part.build(state));
        slot.hidden = !slot.hasChildNodes();
        if (focused < 0) return;
        const control = slot.querySelectorAll('a, button')[focused] ?? this.element;
        /** @type {HTMLElement} */ (control).focus({ preventScroll: true });
    }
}
