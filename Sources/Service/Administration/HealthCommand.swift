// `parley health`: asks the node of this machine whether it is alive, for the health checks of containers.
import Outbound
import ServiceConfiguration

package enum HealthCommand {
    /// Throws `StartError` if the node does not answer `/health/live` with 200. Blocks.
    package static func run(_ settings: Settings) throws {
        let url = settings.localURL(port: settings.httpPort) + "/health/live"
        switch LocalProbe.get(url, timeMaxMs: 3_000) {
        case .success(200): break
        case .success(let status): throw StartError("the node at \(url) answers with status \(status)")
        case .failure(let failure): throw StartError("the node at \(url) does not answer: \(failure)")
        }
    }
}
