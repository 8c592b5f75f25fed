// The files that go with the next message.

import { element } from '../dom.js';
import { iconButton } from '../parts/action.js';
import { showProblem } from '../parts/alert.js';
import { formatNumber, formatSize, t } from '../../language/index.js';
import { filePreview } from './attachments.js';

/** The server's limits. */
const filesMax = 10;
const bytesMax = 50 * 1024 * 1024;

export class FileTray extends HTMLElement {
    #list = element('ul', { class: 'file-tray', 'aria-label': t('conversation.filesToSend'), hidden: true });
    /** @type {Map<HTMLElement, File>} */
    #files = new Map();

    connectedCallback() {
        this.append(this.#list);
    }

    get files() {
        return [...this.#files.values()];
    }

    /** Adds files as far as the limits allow, and says which it does not add.
     * @param {File[]} files */
    add(files) {
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
                return showProblem(t('conversation.tooManyFiles', { max: formatNumber(filesMax) }));
            } else this.#add(file);
        }
    }

    clear() {
        this.#files.clear();
        this.#list.replaceChildren();
        this.#list.hidden = true;
    }

    /** @param {File} file */
    #add(file) {
        const item = element(
            'li',
            {},
            filePreview(file.type, file),
            element('span', { class: 'file-name' }, element('bdi', {}, file.name)),
            element('span', { class: 'hint' }, formatSize(file.size)),
            iconButton('close', t('conversation.removeFile', { name: file.name }), () => this.#remove(item)),
        );
        this.#files.set(item, file);
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
    }
}

customElements.define('parley-file-tray', FileTray);
