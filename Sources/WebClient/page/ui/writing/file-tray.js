// The files that go with the next message. They stay with the draft.

import { newID } from '../../core/id.js';
import { element } from '../dom.js';
import { iconButton } from '../parts/action.js';
import { showProblem } from '../parts/alert.js';
import { formatNumber, formatSize, t } from '../../language/index.js';
import { filePreview } from '../conversation/attachments.js';

/** @typedef {import('../../core/types.js').DraftFile} DraftFile */
/** @typedef {Pick<import('../../core/types.js').Service['limits'], 'attachment_bytes' | 'attachments_per_message'>} Limits */

/** The server's limits, until the service has said its own. @type {Limits} */
const usual = { attachment_bytes: 50 * 1024 * 1024, attachments_per_message: 10 };

export class FileTray extends HTMLElement {
    #list = element('ul', { class: 'file-tray', 'aria-label': t('conversation.filesToSend'), hidden: true });
    /** @type {Map<HTMLElement, DraftFile>} */
    #files = new Map();
    #limits;
    /** Called when the user has added or removed files. */
    onchanged = () => {};

    /** @param {Limits} [limits] */
    constructor(limits = usual) {
        super();
        this.#limits = limits;
    }

    connectedCallback() {
        this.append(this.#list);
    }

    get entries() {
        return [...this.#files.values()];
    }

    get files() {
        return this.entries.map(({ file }) => file);
    }

    /** Adds files as far as the limits allow, and says which it does not add.
     * @param {File[]} files */
    add(files) {
        const { attachment_bytes: bytesMax, attachments_per_message: filesMax } = this.#limits;
        for (const file of files) {
            if (file.size > bytesMax) {
                showProblem(
                    t('conversation.fileTooLarge', {
                        name: file.name,
                        size: formatSize(file.size),
                        max: formatSize(bytesMax),
                    }),
                );
            } else if (this.#files.size >= filesMax) {
                showProblem(t('conversation.tooManyFiles', { max: formatNumber(filesMax) }));
                break;
            } else this.#add({ id: newID(), file });
        }
        this.onchanged();
    }

    /** Shows the files of a draft in place of those shown.
     * @param {DraftFile[]} files */
    show(files) {
        this.clear();
        for (const file of files) this.#add(file);
    }

    clear() {
        this.#files.clear();
        this.#list.replaceChildren();
        this.#list.hidden = true;
    }

    /** @param {DraftFile} entry */
    #add(entry) {
        const { file } = entry;
        const item = element(
            'li',
            {},
            filePreview(file.type, file),
            element('span', { class: 'file-name' }, element('bdi', {}, file.name)),
            element('span', { class: 'hint' }, formatSize(file.size)),
            iconButton('close', t('conversation.removeFile', { name: file.name }), () => this.#remove(item)),
        );
        this.#files.set(item, entry);
        this.#list.append(item);
        this.#list.hidden = false;
    }

    /** @param {HTMLElement} item */
    #remove(item) {
        const next = item.nextElementSibling ?? item.previousElementSibling;
        this.#files.delete(item);
        item.remove();
        this.#list.hidden = this.#files.size === 0;
        const target = next?.querySelector('button') ?? this.closest('form')?.querySelector('textarea');
        target?.focus();
        this.onchanged();
    }
}

customElements.define('parley-file-tray', FileTray);
