import { t } from '../../language/index.js';
import { iconButton } from '../parts/icon.js';
import { closeThread } from './router.js';

/** Builds the button that returns from a conversation to the inbox. It shows on small screens only. */
export function backButton() {
    return iconButton('back', t('shell.back'), closeThread, { class: 'icon-button back-button' });
}
