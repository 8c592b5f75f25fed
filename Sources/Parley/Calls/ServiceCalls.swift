// What the service offers.

extension Call {
    /// The service itself.
    public static var service: ServiceCalls { ServiceCalls() }
}

/// `Call.service`.
public struct ServiceCalls: Sendable {
    /// What the service offers: ways to sign in, alerts, limits. It needs no sign-in. `GET /v1/service`
    public func get() -> Call<ServiceInfo> { Call("GET", "v1", "service") }
}
