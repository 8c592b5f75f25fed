// Where the device is, if the user lets the page know.

import { t } from '../../language/index.js';

/** Rejects with a text for the user.
 * @returns {Promise<{latitude: number, longitude: number}>} */
export function currentPosition() {
    return new Promise((resolve, reject) => {
        if (!navigator.geolocation) throw t('conversation.locationFailed');
        navigator.geolocation.getCurrentPosition(
            ({ coords: { latitude, longitude } }) => resolve({ latitude, longitude }),
            () => reject(t('conversation.locationFailed')),
            { timeout: 20_000 },
        );
    });
}
