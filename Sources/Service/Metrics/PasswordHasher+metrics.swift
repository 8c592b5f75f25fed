// The password hasher's metrics.
import Credentials
import Telemetry

extension PasswordHasher {
    @Sendable func writeMetrics(to text: inout MetricsText) {
        let load = load
        text.gauge("parley_password_hashes_running", "Passwords and codes being hashed.", load.busy)
        text.gauge("parley_password_hashes_waiting", "Passwords and codes waiting to be hashed.", load.waiting)
    }
}
