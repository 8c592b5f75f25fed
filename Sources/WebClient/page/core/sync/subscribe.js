// Alerts through the push service of the browser: the subscription, and its registration at the server.

/** @typedef {import('../http/http.js').HTTP} HTTP */

/** Subscribes at the browser's push service, and registers the device.
 * @param {PushManager} service
 * @param {HTTP} http */
export async function subscribe(service, http) {
    const { public_key: key } = await http.get('/v1/push/webpush-key');
    const options = { userVisibleOnly: true, applicationServerKey: key };
    const subscription = await service.subscribe(options).catch(async () => {
        // A subscription for another server's key is in the way.
        await (await service.getSubscription())?.unsubscribe();
        return await service.subscribe(options);
    });
    await register(subscription, http);
}

/** Registers the device at the server, which sends alerts to it from then on.
 * @param {PushSubscription} subscription
 * @param {HTTP} http */
export async function register(subscription, http) {
    const { endpoint, keys } = subscription.toJSON();
    await http.put('/v1/sessions/current/push', { platform: 'webpush', endpoint, keys });
}
