// The devices that are signed in.

import * as requests from '../../core/requests.js';
import { div, fill } from '../dom.js';
import { t } from '../../language/index.js';
import { attempt, button } from '../parts/action.js';
import { item, list } from '../parts/controls.js';
import { confirm } from '../parts/dialog.js';
import { icon } from '../parts/icon.js';
import { shortTime } from '../parts/time.js';

/** @import {ChatShape, Device} from '../../core/types.js' */

/** Builds the list.
 * @param {ChatShape} chat
 */
export function deviceList(chat) {
    const devices = list(t('settings.devices'));
    const others = button(t('settings.removeOthers'), async () => {
        const action = t('settings.removeOthers');
        if (!await confirm({ title: action, text: t('notice.removeOthersText'), action })) return;
        await requests.signOutOtherDevices(chat);
        await load();
    });
    attempt(load);
    return div('devices', devices, others);

    async function load() {
        const all = await requests.devices(chat);
        all.sort((one, other) => Number(other.current) - Number(one.current));
        fill(devices, ...all.map(deviceItem));
        others.hidden = all.length < 2;
    }

    /** @param {Device} device */
    function deviceItem({ id, device_name, created_at, last_used_at, current }) {
        const name = device_name ?? t('settings.unnamedDevice');
        const since = t('notice.signedInAt', { time: shortTime(created_at) });
        if (current) return item(icon('device'), name, [t('settings.thisDevice'), since]);
        const label = { 'aria-label': t('settings.removeDevice', { device: name }) };
        const remove = async () => {
            await requests.signOutDevice(chat, id);
            await load();
        };
        const facts = [since, t('settings.lastUsed', { time: shortTime(last_used_at) })];
        return item(icon('device'), name, facts, button(t('settings.remove'), remove, 'quiet warn', label));
    }
}
