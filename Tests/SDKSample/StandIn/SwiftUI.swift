// swift-format-ignore-file: AlwaysUseLowerCamelCase
// Declarations in place of SwiftUI's, as far as the SDK's tutorial uses them, so that its code is type-checked on Linux. They
// show that the tutorial uses the SDK rightly. That it uses SwiftUI rightly shows only Xcode.
@_exported import Foundation
import UniformTypeIdentifiers

@MainActor @preconcurrency
public protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
}

@MainActor @preconcurrency
public protocol Scene {
    associatedtype Body: Scene
    @SceneBuilder var body: Body { get }
}

@MainActor @preconcurrency
public protocol App {
    associatedtype Body: Scene
    @SceneBuilder var body: Body { get }
    init()
}

extension App {
    public static func main() {}
}

/// The type of every built-in view and scene.
public struct Anything: View, Scene {
    nonisolated init() {}
    public var body: Never { return fatalError("a stand-in is not run") }
}

public struct EmptyView: View {
    public init() {}
    public var body: Never { return fatalError("a stand-in is not run") }
}

extension Never: View, Scene {
    public var body: Never { return fatalError("a stand-in is not run") }
}

@resultBuilder
public struct ViewBuilder {
    public static func buildExpression<Content: View>(_ content: Content) -> Anything { Anything() }
    public static func buildBlock(_ contents: Anything...) -> Anything { Anything() }
    public static func buildEither(first: Anything) -> Anything { first }
    public static func buildEither(second: Anything) -> Anything { second }
    public static func buildOptional(_ content: Anything?) -> Anything { Anything() }
}

@resultBuilder
public struct SceneBuilder {
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}

@propertyWrapper
public struct State<Value>: Sendable where Value: Sendable {
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
    public init(initialValue: Value) { wrappedValue = initialValue }
    public var wrappedValue: Value {
        nonmutating set {}
        get { fatalError("a stand-in is not run") }
    }
    public var projectedValue: Binding<Value> { Binding() }
}

@propertyWrapper @dynamicMemberLookup
public struct Binding<Value> {
    public init() {}
    public var wrappedValue: Value {
        nonmutating set {}
        get { fatalError("a stand-in is not run") }
    }
    public var projectedValue: Self { self }
    public subscript<Member>(dynamicMember path: ReferenceWritableKeyPath<Value, Member>) -> Binding<Member> { .init() }
}

@propertyWrapper
public struct Environment<Value> {
    public init(_ path: KeyPath<EnvironmentValues, Value>) {}
    public var wrappedValue: Value { fatalError("a stand-in is not run") }
}

public struct EnvironmentValues { public var scenePhase: ScenePhase }
public enum ScenePhase: Sendable { case background, inactive, active }
public enum HorizontalAlignment: Sendable { case leading, center, trailing }
public struct Font: Sendable { public static let headline = Font() }
public struct BackgroundTask: Sendable { public static func appRefresh(_ id: String) -> Self { .init() } }

@MainActor public func Text(_ text: String) -> Anything { .init() }
@MainActor public func Spacer() -> Anything { .init() }
@MainActor public func ProgressView() -> Anything { .init() }
@MainActor public func TextField(_ title: String, text: Binding<String>) -> Anything { .init() }
@MainActor public func SecureField(_ title: String, text: Binding<String>) -> Anything { .init() }
@MainActor public func Button(_ title: String, action: @MainActor () -> Void) -> Anything { .init() }
@MainActor public func Group(@ViewBuilder content: () -> Anything) -> Anything { .init() }
@MainActor public func HStack(@ViewBuilder content: () -> Anything) -> Anything { .init() }
@MainActor public func NavigationStack(@ViewBuilder content: () -> Anything) -> Anything { .init() }
@MainActor public func WindowGroup(@ViewBuilder content: () -> Anything) -> Anything { .init() }

@MainActor
public func VStack(alignment: HorizontalAlignment = .center, @ViewBuilder content: () -> Anything) -> Anything {
    .init()
}

@MainActor
public func List<Row: Identifiable>(_ rows: [Row], @ViewBuilder row: (Row) -> Anything) -> Anything { .init() }

@MainActor
public func ForEach<Row: Identifiable>(_ rows: [Row], @ViewBuilder row: (Row) -> Anything) -> Anything { .init() }

@MainActor
public struct Image: View {
    public init(uiImage: UIImage) {}
    public func resizable() -> Anything { .init() }
    public var body: Never { return fatalError("a stand-in is not run") }
}

public struct UIImage { public init?(data: Data) {} }

@MainActor
public func NavigationLink(@ViewBuilder destination: () -> Anything, @ViewBuilder label: () -> Anything) -> Anything {
    .init()
}

extension View {
    public func font(_ font: Font) -> Anything { .init() }
    public func lineLimit(_ count: Int) -> Anything { .init() }
    public func disabled(_ isDisabled: Bool) -> Anything { .init() }
    public func scaledToFit() -> Anything { .init() }
    public func fileImporter(
        isPresented: Binding<Bool>, allowedContentTypes: [UTType],
        onCompletion: @MainActor (Result<URL, any Error>) -> Void
    ) -> Anything { .init() }
    public func onAppear(_ action: @MainActor () -> Void) -> Anything { .init() }
    public func task(_ action: @escaping @MainActor @Sendable () async -> Void) -> Anything { .init() }
}

extension Scene {
    public func onChange<Value: Equatable>(of value: Value, _ action: @MainActor (Value, Value) -> Void) -> Anything {
        .init()
    }
    public func backgroundTask(_ task: BackgroundTask, action: @escaping @Sendable () async -> Void) -> Anything {
        .init()
    }
}

extension URL {
    public static var applicationSupportDirectory: URL { URL(filePath: "/") }
    public func startAccessingSecurityScopedResource() -> Bool { true }
    public func stopAccessingSecurityScopedResource() {}
}
