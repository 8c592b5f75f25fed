// The labels of the conversations as folders above the list: one of them may be open.

import { folders, labelsOf } from '../../core/state/labels.js';
import { arrange, element, words } from '../dom.js';
import { t } from '../../language/index.js';

/** @import {Thread} from '../../core/types.js' */

/** Builds the folders, which are hidden while no conversation has a label.
 * @param {() => void} onchange another folder is open
 */
export function folderList(onchange) {
    /** @type {Map<string, HTMLElement>} */
    const buttons = new Map();
    /** @type {string | null} */
    let open = null;
    const group = element('div', { class: 'chips folders', role: 'group', 'aria-label': t('labels.folders') });
    return { element: group, update, has, isOpen: () => open !== null };

    /** Shows the labels that there are now. A folder that is gone is closed.
     * @param {Thread[]} threads
     * @param {boolean} isSearching whether results stand in place of the list
     */
    function update(threads, isSearching) {
        const labels = folders(threads);
        if (open !== null && !labels.includes(open)) open = null;
        group.hidden = labels.length === 0 || isSearching;
        arrange(group, labels.map(buttonOf));
        for (const [label, button] of buttons) button.ariaPressed = String(label === open);
    }

    /** Whether a thread is in the open folder; each is while none is open. @param {Thread} thread */
    function has(thread) {
        return open === null || labelsOf(thread).includes(open);
    }

    /** @param {string} label */
    function buttonOf(label) {
        const onclick = () => {
            open = open === label ? null : label;
            onchange();
        };
        const button = buttons.get(label) ??
            element('button', { type: 'button', class: 'chip', onclick }, words('', label));
        buttons.set(label, button);
        return button;
    }
}
