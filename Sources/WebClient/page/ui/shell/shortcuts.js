// The dialog that lists the keys.

import { element } from '../dom.js';
import { openDialog } from '../parts/dialog.js';
import { t } from '../../language/index.js';

/** The keys by what they are for; several ways are apart from each other. @type {Record<string, [string, string][]>} */
const groups = {
    everywhere: [
        ['search', 'Ctrl K'],
        ['searchHere', 'Ctrl Shift F'],
        ['neighbour', 'Alt ↑ · Alt ↓'],
        ['unread', 'Alt Shift ↑ · Alt Shift ↓'],
        ['allRead', 'Shift Esc'],
        ['parts', 'F6 · Shift F6'],
        ['help', '? · Ctrl /'],
    ],
    list: [['move', '↑ · ↓'], ['open', 'Enter']],
    messages: [['move', '↑ · ↓'], ['menu', 'Enter'], ['write', 'Esc']],
    writing: [
        ['send', 'Enter'],
        ['line', 'Shift Enter'],
        ['editLast', '↑'],
        ['mention', '@'],
        ['emoji', ':'],
        ['cancelReply', 'Esc'],
    ],
};

export function openShortcuts() {
    openDialog(
        { title: t('shell.shortcuts'), class: 'shortcuts' },
        ...Object.entries(groups).map(([group, keys]) =>
            element(
                'section',
                {},
                element('h3', {}, t(`shell.keys.${group}`)),
                element(
                    'dl',
                    {},
                    ...keys.flatMap(([name, ways]) => [
                        element('dt', {}, t(`shell.key.${name}`)),
                        element('dd', { dir: 'ltr' }, ...ways.split(' · ').flatMap(way)),
                    ]),
                ),
            )
        ),
    );
}

/** @param {string} keys */
function way(keys) {
    return [element('kbd', {}, keys.replaceAll(' ', ' + ')), ' '];
}
