import { element, fill } from '../dom.js';
import { t } from '../../language/index.js';
import { avatar } from './avatar.js';

/** Builds a profile picture with buttons that replace and remove it. `onchange` gets the new picture, or null.
 * @param {Parameters<typeof avatar>[0]} subject
 * @param {import('../../core/types.js').ChatShape} chat
 * @param {(picture: File | null) => void} onchange
 */
export function pictureField(subject, chat, onchange) {
    const place = element('span', {});
    const input = element('input', {
        type: 'file',
        accept: 'image/jpeg,image/png,image/gif,image/webp',
        hidden: true,
        onchange: () => {
            const picture = input.files?.[0];
            if (picture) change(picture);
        },
    });
    const remove = element(
        'button',
        { class: 'button quiet', type: 'button', onclick: () => change(null) },
        t('shell.removePicture'),
    );
    show(subject.image ?? null);
    return element(
        'div',
        { class: 'picture-field' },
        place,
        element(
            'button',
            { class: 'button', type: 'button', onclick: () => input.click() },
            t('shell.changePicture'),
        ),
        remove,
        input,
    );

    /** @param {File | null} picture */
    function change(picture) {
        show(null);
        if (picture) {
            const src = URL.createObjectURL(picture);
            const image = element('img', { alt: '', src, onload: () => URL.revokeObjectURL(src) });
            place.firstElementChild?.append(image);
        }
        remove.hidden = picture === null;
        input.value = '';
        onchange(picture);
    }

    /** @param {string | null} image */
    function show(image) {
        fill(place, avatar({ ...subject, image }, chat, 'large'));
        remove.hidden = image === null;
    }
}
