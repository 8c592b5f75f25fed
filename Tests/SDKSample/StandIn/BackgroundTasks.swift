// Declarations in place of BackgroundTasks', as far as the SDK's tutorial uses them.

open class BGTaskRequest {}

public final class BGAppRefreshTaskRequest: BGTaskRequest {
    public init(identifier: String) {}
}

public final class BGTaskScheduler: Sendable {
    public static let shared = BGTaskScheduler()
    public func submit(_ request: BGTaskRequest) throws {}
}
