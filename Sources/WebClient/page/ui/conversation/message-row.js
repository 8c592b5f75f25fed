// One message of the log. The element stays the same as long as the message is shown; only parts that changed are
// replaced, so that focus, selection, players and an open editor survive.

import { arrange, div, element, fill } from '../dom.js';
import { attempt, iconButton, loaded } from '../parts/action.js';
import { summary } from '../parts/summary.js';
import { clockTime } from '../parts/time.js';
import { formatFacts, t } from '../../language/index.js';
import { firstPart } from '../../text/tokens.js';
import { isEmojiOnly, isKnownAction } from './body.js';
import { parts } from './row-parts.js';
import { isExpired } from './status.js';

/** @import { Attachment, ChatShape, Message, Person, Row } from '../../core/types.js' */

/** What a row asks of the log around it.
 * @typedef {object} Host
 * @property {ChatShape} chat
 * @property {string} me the caller's id
 * @property {boolean} isDirect
 * @property {Map<string, Person>} people members by id
 * @property {Map<string, string>} reactionTitles who reacted, as far as it was asked for: by message, emoji and count
 * @property {(messageID: string) => void} showMessage
 * @property {(row: Row, button: HTMLElement, at?: {x: number, y: number}) => Promise<void>} openActions
 * @property {(file: Attachment) => void} openPicture
 */

/** How a message relates to its neighbours. `original` is the message that it answers: undefined until it is known, null if it
 * does not exist any more.
 * @typedef {object} Place
 * @property {boolean} isContinued whether the same sender's message above makes a group with it
 * @property {{key: string, count: number} | null} status
 * @property {Message | null | undefined} original
 */

const controls = 'a, button, [role="button"]';
/** How much of a message is its name. The whole text is in it. */
const readMax = 100;

export class MessageRow {
    #host;
    /** @type {Place} */
    #place = { isContinued: false, status: null, original: undefined };
    #isActive = false;
    /** Whether all of a long text is shown. */
    #isWhole = false;
    /** @type {HTMLElement | null} */
    #editor = null;
    /** @type {Record<string, HTMLElement>} */
    #slots = {};
    #line;
    #bubble = div('bubble');
    #column = div('column');
    #key = '';
    #filesKey = '';
    /** The names of the slots that hold something. */
    #filled = '';
    #actions = iconButton('more', t('conversation.actions'), () => this.#host.openActions(this.row, this.#actions), {
        class: 'icon-button actions-button',
        'aria-haspopup': 'menu',
    });
    /** Where the bar under the mouse is added. */
    tools = div('tools', this.#actions);

    /** @param {Row} row @param {Host} host @param {boolean} isAnnounced whether screen readers read it when it appears */
    constructor(row, host, isAnnounced) {
        this.row = row;
        this.#host = host;
        for (const name of Object.keys(parts)) this.#slots[name] = element('div', { class: name });
        const { body, meta } = this.#slots;
        this.#line = element('div', { class: 'line', dir: 'auto' }, body, meta);
        this.element = element('article', {
            'data-id': row.key,
            tabindex: -1,
            'aria-live': isAnnounced ? null : 'off',
        }, this.#column);
        // Only the message is announced, not what changes in it later.
        if (isAnnounced) setTimeout(() => this.element.setAttribute('aria-live', 'off'), 5000);
    }

    /** Shows the present state of the message.
     * @param {Row} row the same object as before if nothing changed in it
     * @param {Place} place
     * @param {number} surroundings stands for everything else that rows depend on
     */
    update(row, place, surroundings) {
        const key = JSON.stringify([place, surroundings]);
        if (row === this.row && key === this.#key) return;
        this.row = row;
        this.#place = place;
        this.#key = key;
        this.#show();
    }

    #show() {
        const { row } = this;
        const place = this.#place;
        const { message } = row;
        const isOwn = message.sender?.id === this.#host.me;
        const isGone = !!message.deleted_at || isExpired(message);
        const isSystem = message.type === 'system';
        const kinds = {
            message: true,
            own: isOwn,
            system: isSystem,
            continued: place.isContinued,
            pending: row.state === 'sending' || row.state === 'pending',
            failed: row.state === 'failed',
            mentioning: !isOwn && !isGone && message.mentions.includes(this.#host.me),
            editing: this.#editor !== null,
            big: !isGone && isEmojiOnly(message),
        };
        this.element.className = Object.entries(kinds).filter(([, is]) => is).map(([kind]) => kind).join(' ');
        this.element.ariaLabel = formatFacts([
            message.sender?.name,
            firstPart(summary(message, this.#host.me), readMax),
            clockTime(message.timestamp),
        ]);
        if (row.state === 'stored') this.element.dataset.seq = String(message.seq);
        // Actions of the server that this page does not know say nothing.
        this.element.hidden = isSystem && !isGone && !isKnownAction(message);
        const showWhole = this.#isWhole ? null : () => {
            this.#isWhole = true;
            this.#show();
            // What is in view stays in view, although the log was at its end.
            this.element.closest('parley-log')?.dispatchEvent(new Event('scroll'));
        };
        const filesKey = JSON.stringify([isGone, row.state, message.payload?.attachments, row.files]);
        for (const [name, build] of Object.entries(parts)) {
            // Pictures and players are not built again for a comparison.
            if (name === 'attachments' && filesKey === this.#filesKey || name === 'body' && this.#editor) continue;
            this.#replace(this.#slots[name], build({ row, place, host: this.#host, isOwn, isGone, showWhole }));
        }
        this.#filesKey = filesKey;
        this.#arrange();
        this.setActive(this.#isActive);
    }

    /** Puts the slots that hold something in place. Most rows have no picture, reply, files, failure or reactions, and the log
     * opens faster without their elements. */
    #arrange() {
        const filled = Object.keys(parts).filter((name) => this.#slots[name].hasChildNodes()).join();
        if (filled === this.#filled) return;
        this.#filled = filled;
        const { portrait, sender, reply, attachments, failure, reactions } = this.#slots;
        const place = (/** @type {Element} */ parent, /** @type {Element[]} */ ...children) =>
            arrange(parent, children.filter((child) => child.hasChildNodes()));
        place(this.#bubble, sender, reply, attachments, this.#line, failure);
        place(this.#column, this.#bubble, reactions, this.tools);
        place(this.element, portrait, this.#column);
    }

    /** Makes the controls in the row stops of the Tab key, or not. From outside, the log as a whole is one stop. Its menu
     * opens by Enter.
     * @param {boolean} isActive
     */
    setActive(isActive) {
        this.#isActive = isActive;
        for (const control of this.element.querySelectorAll(`${controls}, audio, video`)) {
            const isReachable = (isActive && !this.tools.contains(control)) || this.#editor?.contains(control);
            control.setAttribute('tabindex', isReachable ? '0' : '-1');
        }
    }

    /** Opens the menu. @param {{x: number, y: number}} [at] the place of the pointer */
    openActions(at) {
        attempt(() => this.#host.openActions(this.row, this.#actions, at), this.#actions);
    }

    /** Replaces the text by a textbox until it is saved or given up. */
    async edit() {
        const { editor } = await loaded(import('./editor.js'));
        if (!this.#editor) {
            const opener = document.activeElement;
            this.#editor = editor(this.row.message, this.#host.chat, () => {
                this.#editor = null;
                this.#show();
                const target = opener instanceof HTMLTextAreaElement && opener.isConnected ? opener : this.element;
                target.focus({ preventScroll: true });
            });
            fill(this.#slots.body, this.#editor);
            this.#show();
        }
        this.#editor.querySelector('textarea')?.focus();
    }

    /** Replaces what a slot holds, unless that is equal already.
     * @param {HTMLElement} slot @param {Node[]} nodes
     */
    #replace(slot, nodes) {
        if (!slot.hasChildNodes()) return slot.append(...nodes);
        const built = element('div', { class: slot.className }, ...nodes);
        const tabindex = this.#isActive ? '0' : '-1';
        for (const control of built.querySelectorAll(controls)) control.setAttribute('tabindex', tabindex);
        if (slot.isEqualNode(built)) return;
        const focused = [...slot.querySelectorAll(controls)].findIndex((control) => control === document.activeElement);
        fill(slot, ...nodes);
        if (focused < 0) return;
        const control = slot.querySelectorAll(controls)[focused] ?? this.element;
        /** @type {HTMLElement} */ (control).focus({ preventScroll: true });
    }
}
