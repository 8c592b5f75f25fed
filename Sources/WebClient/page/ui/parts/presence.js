import { t } from '../../language/index.js';
import { shortTime } from './time.js';

/** Returns "Online", "Last seen …", or an empty text if nothing is known.
 * @param {{presence?: string | null, last_seen_at?: string | null}} person
 */
export function presenceText({ presence, last_seen_at: lastSeen }) {
    if (presence === 'online') return t('shell.online');
    return lastSeen ? t('shell.lastSeen', { time: shortTime(lastSeen) }) : '';
}
