// The HTTP server's metrics.
import Telemetry
import Transport

extension HTTPServer.Statistics {
    func write(to text: inout MetricsText) {
        text.gauge("parley_http_connections", "Open client connections.", connectionsOpen)
        text.counter("parley_http_connections_total", "Client connections accepted.", connectionsTotal)
        text.counter(
            "parley_http_connections_refused_total", "Connections refused because too many were open.",
            connectionsRefused)
        text.counter(
            "parley_http_connections_displaced_total", "Idle connections closed to make room for new ones.",
            connectionsDisplaced)
        text.gauge(
            "parley_http_body_bytes", "Bytes of request bodies in memory. Small requests are not counted.", bodyBytes)
        text.counter(
            "parley_http_bodies_refused_total", "Requests refused because all bodies together took too much memory.",
            bodiesRefused)
        text.counter(
            "parley_http_clients_gone_total", "Clients that disconnected before their answer was complete.", clientsGone
        )
        text.counter("parley_http_timeouts_total", "Connections closed by a timeout.", timeouts)
    }
}
