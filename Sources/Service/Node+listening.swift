// The ports of a node.
import API
import ServiceConfiguration
import Transport

extension Node {
    /// Opens the service's port.
    package func listen() async throws -> HTTPServer {
        let settings = core.settings
        var transport = TransportSettings()
        transport.tls = core.tls
        transport.host = settings.httpHost
        transport.port = settings.httpPort
        transport.connectionCountMax = settings.connectionCountMax
        transport.addressSharePercent = settings.addressConnectionsPercent
        transport.trustedProxies = core.proxies
        transport.incomingTotalByteCountMax = settings.incomingByteCountMax
        transport.bodyByteCountMax = settings.limits.bodyByteCountMax
        if !settings.corsOrigins.isEmpty { transport.crossOrigin = CrossOriginPolicy(origins: settings.corsOrigins) }
        let handler = APIHandler(api, crossOrigin: transport.crossOrigin)
        let server = try await HTTPServer.bind(transport, handler: handler, logger: core.logger)
        core.server.set(server)
        return server
    }

    /// Opens the port for `/metrics`, if the settings name one.
    func listenForScrapers() async throws -> HTTPServer? {
        guard case .address(let host, let port) = core.settings.metricsInUse else { return nil }
        var transport = TransportSettings(host: host, port: port)
        transport.threadCount = 1
        transport.connectionCountMax = 64
        return try await HTTPServer.bind(transport, handler: MetricsHandler(api.metrics), logger: core.logger)
    }
}
