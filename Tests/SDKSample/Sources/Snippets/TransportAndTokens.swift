// The code of the article "Your own transport and token storage".
import Foundation
import Parley

// snippet
struct HeaderTransport: HTTPTransport {
    let base = SystemTransport()

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        var request = request
        request.headers["x-app-version"] = "1.4"
        return try await base.send(request)
    }
}
// end

#if canImport(Security)
    import Security

    // snippet
    struct KeychainTokenStorage: TokenStorage {
        let service: String

        func load() throws -> String? {
            var query = item
            query[kSecReturnData as String] = true
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess, let data = found as? Data else { throw failure(status) }
            return String(decoding: data, as: UTF8.self)
        }

        func save(_ token: String?) throws {
            SecItemDelete(item as CFDictionary)
            guard let token else { return }
            var new = item
            new[kSecValueData as String] = Data(token.utf8)
            // A background refresh reads the token while the device is locked.
            new[kSecAttrAccessible as String] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
            let status = SecItemAdd(new as CFDictionary, nil)
            guard status == errSecSuccess else { throw failure(status) }
        }

        private var item: [String: Any] {
            [
                kSecClass as String: kSecClassGenericPassword,
                kSecAttrService as String: service,
                kSecAttrAccount as String: "token",
            ]
        }

        private func failure(_ status: OSStatus) -> ParleyError { .storeFailed("Keychain: \(status)") }
    }
// end
#endif
