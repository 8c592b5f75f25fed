// The mail relay as the settings name it.
import Outbound
import ServiceConfiguration

extension MailRelay {
    init(_ server: MailServer) {
        let security: Security =
            switch (server.isTLS, server.startTLS) {
            case (true, _): .tls
            case (false, .required): .startTLS
            case (false, .optional): .startTLSIfOffered
            case (false, .off): .none
            }
        self.init(
            host: server.host, port: server.port, security: security, user: server.user, password: server.password)
    }
}
