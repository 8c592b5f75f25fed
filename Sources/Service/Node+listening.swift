// The ports of a node.
import API
import ServiceConfiguration
import Transport

extension Node {
    /// Opens the service's port.
    package func listen() async throws -> HTTPServer {
        var transport = TransportSettings()
        transport.tls = tls
        transport.host = settings.httpHost
        transport.port = settings.httpPort
        transport.connectionCountMax = settings.connectionCountMax
        transport.addressSharePercent = settings.addressConnectionsPercent
        transport.trustedProxies = proxies
        transport.incomingTotalByteCountMax = settings.incomingByteCountMax
        transport.bodyByteCountMax = settings.limits.bodyByteCountMax
        if !settings.corsOrigins.isEmpty { transport.crossOrigin = CrossOriginPolicy(origins: settings.corsOrigins) }
        let handler = APIHandler(api, sync: sync, crossOrigin: transport.crossOrigin)
        let server = try await HTTPServer.bind(transport, handler: handler, logger: logger)
        self.server.set(server)
        return server
    }

    /// Opens the port for `/metrics`, if the settings name one.
    func listenForScrapers() async throws -> HTTPServer? {
        guard case .address(let host, let port) = settings.metricsInUse else { return nil }
        var transport = TransportSettings(host: host, port: port)
        transport.threadCount = 1
        transport.connectionCountMax = 64
        return try await HTTPServer.bind(transport, handler: MetricsHandler(metrics.text), logger: logger)
    }
}
