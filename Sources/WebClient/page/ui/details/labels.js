// The user's own labels of a conversation, which are folders of the list.

import * as requests from '../../core/requests.js';
import { folders, labelLengthMax, labelsMax, withLabel } from '../../core/state/labels.js';
import { element, p, words } from '../dom.js';
import { t } from '../../language/index.js';
import { iconButton } from '../parts/action.js';
import { field, form } from '../parts/controls.js';
import { live } from '../parts/live.js';

/** @import {ChatShape, Thread} from '../../core/types.js' */

/** Builds the list of labels, which changes at once, and the field for another one.
 * @param {ChatShape} chat
 * @param {string} threadID
 */
export function labelFields(chat, threadID) {
    const thread = chat.thread(threadID);
    let own = thread.value?.me.labels ?? [];
    const known = element('datalist', { id: 'known-labels' });
    const input = {
        name: 'label',
        maxlength: 2 * labelLengthMax,
        autocomplete: 'off',
        list: known.id,
        onfocus: () => {
            const others = folders(chat.inbox.value?.threads ?? []).filter((label) => !own.includes(label));
            known.replaceChildren(...others.map((value) => element('option', { value })));
        },
    };
    const add = async (/** @type {Record<string, string>} */ { label }) => {
        if (!label.trim()) return;
        const labels = withLabel(own, label);
        if (!labels) throw t('labels.refused', { count: labelsMax, length: labelLengthMax });
        await change(labels);
        made.reset();
    };
    const made = form([field(t('labels.new'), input), known], t('labels.add'), add);
    const remove = (/** @type {string} */ removed) => change(own.filter((label) => label !== removed));
    return element(
        'section',
        { class: 'labels' },
        element('h3', {}, t('labels.title')),
        p('hint', t('labels.hint')),
        live(thread, (thread) => {
            own = thread?.me.labels ?? [];
            return [thread && labelList(thread, remove)];
        }),
        made,
    );

    /** The next change may come before the event of this one.
     * @param {string[]} labels */
    async function change(labels) {
        const before = own;
        own = labels;
        try {
            await requests.updateSettings(chat, threadID, { labels });
        } catch (error) {
            own = before;
            throw error;
        }
    }
}

/** @param {Thread} thread @param {(label: string) => Promise<void>} remove */
function labelList({ labels = [], me }, remove) {
    const own = me.labels ?? [];
    if (labels.length + own.length === 0) return null;
    return element(
        'ul',
        { class: 'chips', role: 'list', 'aria-label': t('labels.title') },
        labels.map((label) => element('li', { class: 'chip', title: t('labels.ofThread') }, words('', label))),
        own.map((label) =>
            element(
                'li',
                { class: 'chip' },
                words('', label),
                iconButton('close', t('labels.remove', { label }), () => remove(label)),
            )
        ),
    );
}
