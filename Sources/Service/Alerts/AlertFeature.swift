// Alerts: the calls on push targets, planning and sending.
import API
import Domain
import Push
import Workers

extension Feature {
    static func alerts(_ node: NodeCore) async throws -> Feature {
        let (settings, store, logger) = (node.settings, node.store, node.logger)
        let keys = try await AlertDispatcher.keys(store)
        let (metrics, planning) = (AlertMetrics(), AlertPlannerMetrics())
        let dispatcher = try AlertDispatcher(settings, keys: keys, store: store, metrics: metrics, logger: logger)
        let planner = AlertPlanner(
            store: store, lifeSeconds: settings.pushLifeHours * 3_600, metrics: planning, head: node.head,
            devicesWentAway: node.devicesWentAway, wake: dispatcher.wake, logger: logger)
        let rules = PushTargetRules(allowsPrivate: settings.pushAllowsPrivate, isPoint: WebPushKeys.isPoint)
        return Feature(
            routes: PushCalls(
                store: store, platforms: settings.pushPlatforms, webPushKey: keys.publicText, rules: rules
            ).routes,
            components: [
                Component(
                    "alertDispatcher", failures: dispatcher.failures, metrics: metrics.write, run: dispatcher.run),
                Component("alertPlanner", failures: [planning.failures], metrics: planning.write, run: planner.run),
            ])
    }
}
