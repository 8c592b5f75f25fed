// One picture on the whole screen, with the way to the ones before and after it.

import { div, element, fill } from '../dom.js';
import { iconButton } from '../parts/action.js';
import { openDialog } from '../parts/dialog.js';
import { icon } from '../parts/icon.js';
import { t } from '../../language/index.js';
import { nameOf } from './attachments.js';

/** @typedef {import('../../core/types.js').Attachment} Attachment */

/** Opens a picture.
 * @param {Attachment[]} pictures those of the loaded part of the conversation
 * @param {Attachment} first
 * @param {Pick<import('../../core/types.js').ChatShape, 'fileURL'>} chat
 */
export function openLightbox(pictures, first, chat) {
    let index = pictures.findIndex(({ id }) => id === first.id);
    const stage = div('stage');
    const previous = iconButton('back', t('conversation.previousPicture'), () => move(-1));
    const next = iconButton('back', t('conversation.nextPicture'), () => move(1), { class: 'icon-button next' });
    const download = element(
        'a',
        { class: 'icon-button', 'aria-label': t('conversation.download'), title: t('conversation.download') },
        icon('download'),
    );
    const dialog = openDialog(
        { title: nameOf(first), class: 'lightbox' },
        stage,
        div('actions', previous, download, next),
    );
    const isLeftToRight = getComputedStyle(dialog).direction === 'ltr';
    dialog.addEventListener('keydown', ({ key }) => {
        if (key === 'ArrowLeft') move(isLeftToRight ? -1 : 1);
        else if (key === 'ArrowRight') move(isLeftToRight ? 1 : -1);
    });
    // A click beside the picture closes, as the Escape key does.
    stage.addEventListener('click', (event) => event.target === stage && dialog.close());
    show();

    /** @param {number} step */
    function move(step) {
        if (!pictures[index + step]) return;
        index += step;
        show();
    }

    function show() {
        const file = pictures[index];
        const name = nameOf(file);
        const heading = dialog.querySelector('h2');
        if (heading) heading.textContent = name;
        const src = chat.fileURL(file.id, 'original');
        fill(stage, element('img', { alt: name, src, width: file.width, height: file.height, decoding: 'async' }));
        previous.setAttribute('aria-disabled', String(index === 0));
        next.setAttribute('aria-disabled', String(index === pictures.length - 1));
        download.setAttribute('href', src);
        download.setAttribute('download', name);
    }
}
