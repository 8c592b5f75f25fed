// Notifications of this browser while the page is open: the choices of the person, and showing messages that arrive while no
// tab can be seen.

import { isAlerting, isQuiet } from '../../core/state/attention.js';
import { t } from '../../language/index.js';
import { threadSubject } from '../parts/avatar.js';
import { summary } from '../parts/summary.js';

/** @import { ChatShape, Message, Thread } from '../../core/types.js' */

/** `isOn`: undefined until the person has decided. `quiet`: no notifications between these times of day, such as `22:00`.
 * @typedef {{isOn?: boolean, hasSound: boolean, quiet: {from: string, to: string} | null}} Choices */

const key = 'parley-notifications';
const shownMax = 5;

/** @returns {Choices} */
export function choices() {
    try {
        return { hasSound: true, quiet: null, ...JSON.parse(localStorage.getItem(key) ?? '{}') };
    } catch {
        return { hasSound: true, quiet: null };
    }
}

/** Stores choices on this device, until the person signs out.
 * @param {Partial<Choices>} change
 */
export function choose(change) {
    try {
        localStorage.setItem(key, JSON.stringify({ ...choices(), ...change }));
    } catch {
        // The browser stores nothing: notifications stay as they are.
    }
}

/** @returns {'unsupported' | 'denied' | 'off' | 'on'} */
export function state() {
    if (!('Notification' in globalThis) || !navigator.serviceWorker) return 'unsupported';
    if (Notification.permission === 'denied') return 'denied';
    return Notification.permission === 'granted' && choices().isOn === true ? 'on' : 'off';
}

/** Requests the browser's permission, right after a click. If the service sends Web Push, the browser also shows
 * notifications while the page is closed.
 * @param {ChatShape} chat
 */
export async function turnOn(chat) {
    if (await Notification.requestPermission() !== 'granted') return;
    choose({ isOn: true });
    // A browser without a push service shows notifications all the same while the page is open.
    if (chat.service.value?.push.webpush) await chat.enablePush().catch((error) => console.warn('no push', error));
}

/** @param {ChatShape} chat */
export async function turnOff(chat) {
    choose({ isOn: false });
    if (chat.push.value === 'on') await chat.disablePush();
}

/** Shows messages that arrived while no tab can be seen: the newest of each thread, if the person wants to know.
 * @param {ChatShape} chat
 * @param {Message[]} messages
 */
export async function notify(chat, messages) {
    const { hasSound, quiet } = choices();
    if (state() !== 'on' || isQuiet(quiet, new Date().toTimeString().slice(0, 5))) return;
    const userID = chat.session.value?.user.id ?? '';
    /** @type {Map<Thread, Message>} */
    const newest = new Map();
    for (const message of messages) {
        const thread = chat.inbox.value?.threads.find(({ id }) => id === message.thread_id);
        if (thread && isAlerting(thread, message, userID)) newest.set(thread, message);
    }
    if (newest.size === 0) return;
    for (const [thread, message] of [...newest].slice(-shownMax)) await show(chat, thread, message);
    if (hasSound) playSound();
}

/** Shows a notification as an example.
 * @param {ChatShape} chat
 */
export async function test(chat) {
    const registration = await navigator.serviceWorker.ready;
    const name = chat.service.value?.name ?? '';
    await registration.showNotification(name, { body: t('notice.testText'), tag: 'test', silent: true });
    if (choices().hasSound) playSound();
}

/** Shows a message as the server's alerts do: one notification for a thread, as much text as the account's preferences allow.
 * @param {ChatShape} chat @param {Thread} thread @param {Message} message
 */
async function show(chat, thread, message) {
    const privacy = chat.me.value?.preferences?.push ?? 'full';
    const text = privacy === 'full' ? summary(message, chat.session.value?.user.id) : t('notice.newMessage');
    const name = message.sender?.name ?? '';
    const registration = await navigator.serviceWorker.ready;
    const options = /** @type {NotificationOptions} */ ({
        body: thread.kind === 'direct' || privacy === 'none' ? text : t('inbox.from', { name, text }),
        tag: thread.id,
        renotify: true,
        // The page plays a sound of its own.
        silent: true,
        data: { thread_id: thread.id, message_id: message.id, seq: message.seq },
    });
    const title = privacy === 'none' ? chat.service.value?.name ?? '' : threadSubject(thread).name;
    await registration.showNotification(title, options);
}

/** Plays two short tones. Browsers allow that once the person has clicked or typed in the page. */
export function playSound() {
    const audio = new AudioContext();
    [[660, 0], [880, 0.12]].forEach(([frequency, at]) => {
        const tone = audio.createOscillator();
        const volume = audio.createGain();
        const start = audio.currentTime + at;
        tone.frequency.value = frequency;
        volume.gain.setValueAtTime(0.12, start);
        volume.gain.exponentialRampToValueAtTime(0.001, start + 0.25);
        tone.connect(volume).connect(audio.destination);
        tone.start(start);
        tone.stop(start + 0.3);
        tone.onended = () => void (at > 0 && audio.close());
    });
}
