// The form in which a message is written.

import { Component, div, element } from '../dom.js';
import { attempt, iconButton, loaded } from '../parts/action.js';
import { showProblem } from '../parts/alert.js';
import { icon } from '../parts/icon.js';
import { summary } from '../parts/summary.js';
import { t } from '../../language/index.js';
import { mentionable, mentionedIDs } from '../../text/mentions.js';
import { sentence } from './body.js';

/** @typedef {import('../../core/types.js').Message} Message */
/** @typedef {import('../../core/types.js').Draft} Draft */

/** The server's limit of a text in bytes, until the service has said its own. */
const textMax = 16 * 1024;
const draftDelay = 300;

export class Composer extends Component {
    #text = element('textarea', {
        class: 'input',
        rows: 1,
        dir: 'auto',
        'aria-label': t('conversation.message'),
        placeholder: t('conversation.placeholder'),
        autocomplete: 'off',
        enterkeyhint: 'send',
    });
    #picker = element('input', { type: 'file', multiple: true, hidden: true });
    /** @type {import('../writing/file-tray.js').FileTray | null} */
    #tray = null;
    #row = div('composer-row');
    /** @type {HTMLButtonElement} */
    #emoji = iconButton('emoji', t('conversation.insertEmoji'), async () => {
        const { openEmojiPicker } = await loaded(import('../../emoji/picker.js'));
        openEmojiPicker(this.#emoji, (emoji) => this.#insert(emoji));
    }, { class: 'icon-button emoji-button' });
    #more = iconButton('more', t('notice.moreToSend'), () => this.#openMore(), {
        class: 'icon-button',
        'aria-haspopup': 'menu',
    });
    #replyBar = element('div', { class: 'reply-bar', hidden: true });
    /** @type {import('./completion.js').Completion | null} */
    #completion = null;
    /** @type {Message | null} */
    #replyTo = null;
    /** @type {import('../../core/types.js').Member[]} */
    #members = [];
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    #draftTimer;
    #hasChanged = false;

    /** Called when ↑ is pressed in the empty textbox. */
    oneditnewest = () => {};
    /** Called after a message was put into the outbox. */
    onsent = () => {};

    /** @param {import('../../core/types.js').ChatShape} chat @param {string} threadID */
    constructor(chat, threadID) {
        super();
        this.chat = chat;
        this.threadID = threadID;
    }

    connectedCallback() {
        this.#row.append(
            iconButton('attach', t('conversation.attach'), () => this.#picker.click()),
            this.#more,
            this.#picker,
            this.#text,
            this.#emoji,
            iconButton('send', t('conversation.sendButton'), () => {}, {
                type: 'submit',
                class: 'icon-button primary',
            }),
        );
        const form = element(
            'form',
            {
                class: 'composer',
                'aria-label': t('conversation.send'),
                onsubmit: (/** @type {SubmitEvent} */ event) => {
                    event.preventDefault();
                    this.#send();
                },
            },
            this.#replyBar,
            this.#row,
        );
        this.append(form);
        growWithText(this.#text);
        this.#text.addEventListener('keydown', (event) => this.#handleKey(event));
        this.#text.addEventListener('input', () => {
            this.#keepDraft();
            if (!this.#completion && /@|:\p{L}/u.test(this.#text.value)) attempt(() => this.#loadCompletion());
            if (this.#text.value.trim()) this.chat.reportTyping(this.threadID);
        });
        this.#text.addEventListener('paste', (event) => {
            const files = [...event.clipboardData?.files ?? []];
            // Office programs put a picture of the text beside the text.
            if (files.length === 0 || event.clipboardData?.types.includes('text/rtf')) return;
            event.preventDefault();
            this.addFiles(files);
        });
        this.#picker.addEventListener('change', () => {
            this.addFiles([...this.#picker.files ?? []]);
            this.#picker.value = '';
        });
        this.follow(this.chat.draft(this.threadID), (draft) => this.#showDraft(draft));
        this.follow(this.chat.members(this.threadID), (members) => {
            const areFirst = this.#members.length === 0;
            this.#members = members;
            // An @ that was written before the members were loaded has listed nobody.
            if (areFirst && document.activeElement === this.#text) this.#completion?.update();
        });
        // What is done next, such as signing out, must find the draft in the store.
        const save = () => this.#saveDraft();
        this.#text.addEventListener('blur', save);
        document.addEventListener('visibilitychange', save);
        this.atEnd(() => document.removeEventListener('visibilitychange', save));
        this.atEnd(save);
    }

    /** @override */
    focus() {
        this.#text.focus();
    }

    /** Answers a message. @param {Message | null} message null: answers none */
    reply(message) {
        this.#setReply(message);
        this.#keepDraft();
        this.#text.focus();
    }

    /** @param {File[]} files */
    async addFiles(files) {
        this.#text.focus();
        if (await attempt(() => this.#loadTray())) this.#tray?.add(files);
    }

    async #loadTray() {
        const { FileTray } = await loaded(import('../writing/file-tray.js'));
        if (this.#tray) return;
        this.#tray = new FileTray(this.chat.service.value?.limits);
        this.#tray.onchanged = () => {
            this.#hasChanged = true;
            void this.#storeFiles();
        };
        this.#row.before(this.#tray);
    }

    /** Files stay with the draft, as the text does. */
    async #storeFiles() {
        try {
            await this.chat.setDraftFiles(this.threadID, this.#tray?.entries ?? []);
        } catch (error) {
            showProblem(error);
        }
    }

    /** Shows the files of the stored draft. */
    async #showFiles() {
        await attempt(async () => {
            await this.#loadTray();
            this.#tray?.show(await this.chat.draftFiles(this.threadID));
        });
    }

    /** Names and emoji are completed from the first sign on. */
    async #loadCompletion() {
        const { Completion } = await loaded(import('./completion.js'));
        if (this.#completion) return;
        this.#completion = new Completion(this.#text, () => this.#others(), this.chat);
        this.#row.before(this.#completion.element);
        this.#completion.update();
    }

    async #send() {
        const text = this.#text.value.trim();
        const files = this.#tray?.files ?? [];
        if (!text && files.length === 0) return this.#text.focus();
        const { text_bytes: most = textMax } = this.chat.service.value?.limits ?? {};
        if (new TextEncoder().encode(text).length > most) return showProblem(t('conversation.textTooLong'));
        const replyTo = this.#replyTo;
        const people = this.#others().map(({ user }) => user);
        const mentions = mentionedIDs(text, mentionable(this.#completion?.inOrder(people) ?? people));
        this.#clear();
        // The next message can be written at once; if this one cannot be kept, it comes back.
        const isKept = await attempt(() => this.chat.send(this.threadID, { text, files, replyTo, mentions }));
        if (isKept) {
            void this.#storeFiles();
            this.onsent();
        } else if (!this.#text.value) {
            this.#setText(text);
            await this.addFiles(files);
            this.#setReply(replyTo);
            this.#keepDraft();
        }
    }

    #clear() {
        this.#setText('');
        this.#tray?.clear();
        this.#setReply(null);
        this.#completion?.close();
        this.#keepDraft();
        this.#saveDraft();
        this.#text.focus();
    }

    /** @param {KeyboardEvent} event */
    #handleKey(event) {
        if (event.isComposing || this.#completion?.handleKey(event)) return;
        const hasModifier = event.shiftKey || event.altKey || event.ctrlKey || event.metaKey;
        if (event.key === 'Enter' && !hasModifier) this.#send();
        else if (event.key === 'ArrowUp' && !hasModifier && this.#text.value === '') this.oneditnewest();
        else if (event.key === 'Escape' && this.#replyTo) this.reply(null);
        else return;
        event.preventDefault();
    }

    /** @param {string} emoji */
    #insert(emoji) {
        this.#text.setRangeText(emoji, this.#text.selectionStart, this.#text.selectionEnd, 'end');
        this.#text.dispatchEvent(new Event('input', { bubbles: true }));
        this.#text.focus();
    }

    /** @param {string} text */
    #setText(text) {
        this.#text.value = text;
        this.#text.style.removeProperty('block-size');
    }

    /** @param {Message | null} message */
    #setReply(message) {
        this.#replyTo = message;
        this.#replyBar.hidden = message === null;
        if (!message) return this.#replyBar.replaceChildren();
        this.#replyBar.replaceChildren(
            icon('reply'),
            element(
                'p',
                {},
                element('strong', {}, ...sentence('conversation.replyingTo', { name: message.sender?.name ?? '' })),
                element('span', {}, element('bdi', {}, summary(message, this.chat.session.value?.user.id))),
            ),
            iconButton('close', t('conversation.cancelReply'), () => this.reply(null)),
        );
    }

    async #openMore() {
        const { openMenu } = await loaded(import('../parts/menu.js'));
        openMenu(this.#more, t('notice.moreToSend'), [
            { name: t('conversation.shareLocation'), icon: 'location', onselect: () => this.#shareLocation() },
        ]);
    }

    async #shareLocation() {
        const { shareLocation } = await loaded(import('../writing/location.js'));
        shareLocation(this.chat, this.threadID, this.#replyTo, () => {
            this.#setReply(null);
            this.#keepDraft();
            this.onsent();
        });
    }

    /** Shows the stored draft, also what another tab stores. What the user writes here wins.
     * @param {Draft} draft */
    #showDraft({ text, replyTo, fileIDs }) {
        if (this.#hasChanged && document.hasFocus()) return;
        this.#setText(text);
        this.#setReply(replyTo);
        const shown = this.#tray?.entries.map(({ id }) => id) ?? [];
        if (fileIDs.join() !== shown.join()) void this.#showFiles();
    }

    #keepDraft() {
        this.#hasChanged = true;
        clearTimeout(this.#draftTimer);
        this.#draftTimer = setTimeout(() => this.#saveDraft(), draftDelay);
    }

    #saveDraft() {
        if (!this.#draftTimer) return;
        clearTimeout(this.#draftTimer);
        this.#draftTimer = undefined;
        this.chat.setDraft(this.threadID, { text: this.#text.value, replyTo: this.#replyTo });
    }

    #others() {
        const me = this.chat.session.value?.user.id;
        return this.#members.filter(({ user, status }) => status === 'joined' && user.id !== me);
    }
}

/** Gives a textbox the height of its text, up to the limit in the style sheet.
 * @param {HTMLTextAreaElement} textarea
 */
export function growWithText(textarea) {
    // Browsers with `field-sizing` do this by themselves.
    if (CSS.supports('field-sizing', 'content')) return;
    const grow = () => {
        textarea.style.setProperty('block-size', 'auto');
        textarea.style.setProperty('block-size', `${textarea.scrollHeight + 2}px`);
    };
    textarea.addEventListener('input', grow);
    requestAnimationFrame(grow);
}

customElements.define('parley-composer', Composer);
