// What the user is notified of, in this browser and on all devices.

import { div, element, fill, p } from '../dom.js';
import { t } from '../../language/index.js';
import { attempt, button } from '../parts/action.js';
import { checkbox, labelled } from '../parts/controls.js';
import * as notifications from '../shell/notifications.js';

const privacies = ['full', 'sender_only', 'none'];
const night = { from: '22:00', to: '07:00' };

/** Builds the fields. The first is the account's, and is stored with its form; the others are this browser's.
 * @param {import('../../core/types.js').ChatShape} chat
 * @param {string} push how much of a message notifications show
 */
export function notificationFields(chat, push) {
    const options = privacies.map((value) =>
        element('option', { value, selected: value === push }, t(`settings.push.${value}`))
    );
    const place = div('notification-fields');
    draw();
    return [
        labelled(t('notice.show'), element('select', { class: 'input', name: 'push' }, options)),
        place,
    ];

    function draw() {
        const state = notifications.state();
        const isAlways = state === 'on' && chat.push.value === 'on';
        fill(
            place,
            p('hint', t(isAlways ? 'notice.state.always' : `notice.state.${state}`)),
            state === 'off' && button(t('notice.turnOnHere'), () => change(() => notifications.turnOn(chat))),
            ...state === 'on' ? fields() : [],
        );
    }

    function fields() {
        const { hasSound, quiet } = notifications.choices();
        const sound = checkbox(t('notice.sound'), {
            checked: hasSound,
            onchange: () => notifications.choose({ hasSound: !hasSound }),
        });
        const hours = checkbox(t('notice.quiet'), {
            checked: quiet !== null,
            onchange: () => change(() => notifications.choose({ quiet: quiet ? null : night })),
        });
        return [
            sound,
            hours,
            quiet && div('quiet-hours', time('from', quiet), time('to', quiet)),
            div(
                'actions',
                button(t('notice.turnOffHere'), () => change(() => notifications.turnOff(chat))),
                button(t('notice.test'), () => notifications.test(chat)),
            ),
        ];
    }

    /** @param {'from' | 'to'} end @param {{from: string, to: string}} quiet */
    function time(end, quiet) {
        const onchange = () => {
            const now = notifications.choices().quiet ?? quiet;
            if (input.value) notifications.choose({ quiet: { ...now, [end]: input.value } });
        };
        const input = element('input', { class: 'input', type: 'time', value: quiet[end], onchange });
        return labelled(t(`notice.quiet.${end}`), input);
    }

    /** @param {() => unknown} action */
    async function change(action) {
        await attempt(action);
        draw();
        place.querySelector('button')?.focus();
    }
}
