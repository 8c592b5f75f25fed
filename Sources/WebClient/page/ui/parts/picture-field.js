import { div, element, fill } from '../dom.js';
import { t } from '../../language/index.js';
import { avatar } from './avatar.js';
import { button } from './controls.js';

/** Builds a profile picture with buttons that replace and remove it. `onchange` gets the new picture, or null.
 * @param {import('./avatar.js').Subject} subject
 * @param {import('../../core/types.js').ChatShape} chat
 * @param {(picture: File | null) => unknown} onchange
 */
export function pictureField(subject, chat, onchange) {
    const place = div('');
    const accept = 'image/jpeg,image/png,image/gif,image/webp';
    const input = element('input', {
        type: 'file',
        accept,
        hidden: true,
        onchange: () => pick(input.files?.[0] ?? null),
    });
    const remove = button(t('shell.removePicture'), () => pick(null), 'quiet');
    show(subject.image);
    return div('picture-field', place, button(t('shell.changePicture'), () => input.click()), remove, input);

    /** @param {File | null} picture */
    function pick(picture) {
        show(null);
        if (picture) {
            const src = URL.createObjectURL(picture);
            place.firstElementChild?.append(element('img', { alt: '', src, onload: () => URL.revokeObjectURL(src) }));
            remove.hidden = false;
        }
        input.value = '';
        return onchange(picture);
    }

    /** @param {string | null | undefined} image */
    function show(image) {
        fill(place, avatar({ ...subject, image }, chat, 'large'));
        remove.hidden = !image;
    }
}
