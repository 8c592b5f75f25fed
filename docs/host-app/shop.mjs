// A shop whose customers and support agents talk about each order, in Parley. Node.js 18, without packages.
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

const PARLEY = process.env.PARLEY ?? 'http://127.0.0.1:8080';
const KEY = process.env.SHOP_KEY;
const SECRET = readFileSync('jwt-secret');

/** Calls Parley, again while it is busy or unreachable. `once` keeps a repeated POST from creating two things. */
async function parley(method, path, body, { token = KEY, once } = {}) {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    if (once) headers['Idempotency-Key'] = once;
    for (let triesLeft = 5;; triesLeft -= 1) {
        const request = { method, headers, body: body && JSON.stringify(body), signal: AbortSignal.timeout(30_000) };
        const answer = await fetch(PARLEY + path, request).catch((error) => new Response(error, { status: 503 }));
        const text = await answer.text();
        if (answer.ok) return text ? JSON.parse(text) : null;
        if (answer.status === 404 && method === 'DELETE') return null;
        if (![429, 503].includes(answer.status) || !triesLeft) throw new Error(`${method} ${path}: ${text}`);
        await setTimeout(1000 * Number(answer.headers.get('Retry-After') ?? 1));
    }
}

const user = (id) => '/v1/admin/users/' + encodeURIComponent(`ext:${id}`);
const thread = (order) => '/v1/admin/threads/' + encodeURIComponent(`ext:order-${order}`);

/** Signs the token with which the app of a customer, or the page of an agent, signs in within five minutes. */
export function appToken(id) {
    const parts = [{ alg: 'HS256' }, { sub: id, aud: 'parley', exp: Math.floor(Date.now() / 1000) + 300 }];
    const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    return `${text}.${createHmac('sha256', SECRET).update(text).digest('base64url')}`;
}

export const signedUp = (id, name) => parley('PUT', user(id), { name });

export const ordered = (order, customer, agent, total) =>
    parley('PUT', thread(order), {
        kind: 'group',
        title: `Order ${order}`,
        labels: ['orders'],
        custom: { order, total },
        members: [{ user: `ext:${customer}` }, { user: `ext:${agent}` }],
    });

export const sent = (order) => {
    const body = { sender: null, payload: { text: 'Your order has been sent' } };
    return parley('POST', `${thread(order)}/messages`, body, { once: `order-${order}-sent` });
};

export const answered = (order, agent, text, ticket) => {
    const body = { sender: `ext:${agent}`, payload: { text } };
    return parley('POST', `${thread(order)}/messages`, body, { once: `ticket-${ticket}` });
};

export async function messages(order) {
    const found = [];
    for (;;) {
        const page = await parley('GET', `${thread(order)}/messages?after=${found.at(-1)?.seq ?? 0}&limit=200`);
        found.push(...page.messages);
        if (page.end) return found;
    }
}

export const badge = async (id) => (await parley('GET', `${user(id)}/unread`)).unread_total;

export const closed = (order) => parley('DELETE', thread(order));

/** A day in the shop. What has a token of its own is done by the customer's app (Cleo) or the agent's page (Sam). */
async function day(order) {
    await signedUp('customer-42', 'Cleo');
    await signedUp('agent-7', 'Sam');
    const path = '/v1/threads/' + (await ordered(order, 'customer-42', 'agent-7', '49.90 EUR')).id;
    const signIn = async (id) =>
        (await parley('POST', '/v1/auth/login', { token: appToken(id) }, { token: '' })).session.token;
    const [cleo, sam] = [await signIn('customer-42'), await signIn('agent-7')];
    await sent(order);
    await sent(order); // A queue that runs the job twice sends one message.
    console.log('Badge of Cleo:', await badge('customer-42'));
    const question = { payload: { text: 'When will it be here?' } };
    await parley('POST', `${path}/messages`, question, { token: cleo, once: `cleo-${order}` });
    console.log('Badge of Cleo:', await badge('customer-42'));
    for (const found of (await parley('GET', '/v1/inbox?label=orders&unread=true', null, { token: sam })).threads) {
        console.log(`Sam has ${found.unread_count} unread in ${found.title}, over ${found.custom.total}`);
    }
    await answered(order, 'agent-7', 'On Friday', `${order}-1`);
    await parley('PATCH', `${path}/settings`, { labels: ['answered'], archived: true }, { token: sam });
    for (const found of (await parley('GET', '/v1/inbox?label=orders&label=answered', null, { token: sam })).threads) {
        console.log(`Sam has answered ${found.title}`);
    }
    for (const { sender, payload } of await messages(order)) {
        console.log(`  ${sender?.name ?? 'Shop'}: ${payload.text}`);
    }
    console.log('Badge of Cleo:', await badge('customer-42'));
    await closed(order);
    console.log('Badge of Cleo:', await badge('customer-42'));
}

await day(process.argv[2]);
