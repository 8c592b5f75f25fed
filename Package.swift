// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "parley",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // Pure: ids, values, limits, problems.
        .target(name: "Domain", swiftSettings: settings),

        // libpq made safe. Knows nothing of chat.
        .systemLibrary(name: "CLibpq", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .target(
            name: "Postgres", dependencies: ["CLibpq", .product(name: "Logging", package: "swift-log")],
            swiftSettings: settings),

        // One Swift method a SQL function.
        .target(
            name: "Store", dependencies: ["Domain", "Postgres"], exclude: ["embed.json"], swiftSettings: settings,
            plugins: ["EmbedFilesPlugin"]),

        // Text files as Swift source, so that the executable carries them.
        .executableTarget(name: "EmbedFilesTool", swiftSettings: settings),
        .plugin(name: "EmbedFilesPlugin", capability: .buildTool(), dependencies: ["EmbedFilesTool"], path: "Sources/EmbedFilesPlugin"),

        // Writer, tail, mailboxes, caches.
        .target(
            name: "Log",
            dependencies: [
                "Domain", "Postgres", "Store", .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),

        // HTTP/1.1 on SwiftNIO, with parked replies. Knows nothing of chat.
        .target(
            name: "Transport",
            dependencies: [
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"), .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"), .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
            ],
            swiftSettings: settings),

        // A private PostgreSQL, made and kept.
        .target(
            name: "EmbeddedPostgres", dependencies: [.product(name: "Logging", package: "swift-log")],
            swiftSettings: settings),

        .target(
            name: "TestSupport",
            dependencies: [
                "Domain", "EmbeddedPostgres", "Postgres", "Store", .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/TestSupport", swiftSettings: settings),
        .testTarget(
            name: "EmbeddedPostgresTests",
            dependencies: ["EmbeddedPostgres", "TestSupport", .product(name: "Logging", package: "swift-log")],
            swiftSettings: settings),
        .testTarget(
            name: "LogTests",
            dependencies: [
                "Domain", "Log", "Postgres", "Store", "TestSupport", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
    ]
)
