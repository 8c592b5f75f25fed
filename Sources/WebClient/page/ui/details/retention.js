import { element } from '../dom.js';
import { formatDuration, t } from '../../language/index.js';

/** @typedef {import('../../core/types.js').Retention} Retention */

const day = 86_400;
const usual = [day, 7 * day, 28 * day];

/** Builds the choice of how long a thread keeps messages; as text if the user may not change it.
 * @param {Retention | undefined} retention
 * @param {boolean} mayEdit
 * @param {(retention: Retention) => void} onchange
 */
export function retentionField(retention = { keep: 'forever' }, mayEdit, onchange) {
    const seconds = retention.keep === 'seconds' ? retention.seconds : null;
    const times = [...new Set(seconds ? [...usual, seconds] : usual)].sort((one, other) => one - other);
    /** @type {[string, Retention][]} */
    const choices = [
        [t('details.keepForever'), { keep: 'forever' }],
        ...times.map((
            time,
        ) => /** @type {[string, Retention]} */ ([duration(time), { keep: 'seconds', seconds: time }])),
        [t('details.keepUntilDelivered'), { keep: 'until_delivered' }],
    ];
    const isCurrent = (/** @type {Retention} */ value) =>
        value.keep === 'seconds' ? value.seconds === seconds : value.keep === retention.keep;
    const select = element(
        'select',
        {
            class: 'input',
            disabled: !mayEdit,
            onchange: () => onchange(choices[select.selectedIndex][1]),
        },
        choices.map(([label, value]) => element('option', { selected: isCurrent(value) }, label)),
    );
    return element(
        'label',
        { class: 'field' },
        t('details.keep'),
        select,
        element('span', { class: 'hint' }, t('details.keepHint')),
    );
}

/** @param {number} seconds */
function duration(seconds) {
    if (seconds % day === 0) return formatDuration(seconds / day, 'day');
    return seconds % 3600 === 0 ? formatDuration(seconds / 3600, 'hour') : formatDuration(seconds, 'second');
}
