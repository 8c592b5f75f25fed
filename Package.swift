// swift-tools-version: 6.2.3
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    // The log's generic parts are written in one target and made concrete in another: without this they run unspecialised.
    .unsafeFlags(["-cross-module-optimization"], .when(configuration: .release)),
]

// The client's products are built inside other people's packages, and SwiftPM refuses unsafe flags there.
let clientSettings: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

// The optimised build optimises what is tested, not the tests: they wait more than they compute. Without optimisation, batches
// of files compile faster than whole modules (docs/performance.md). The compiler warns that it then ignores SwiftPM's
// -num-threads.
let testSettings: [SwiftSetting] =
    clientSettings + [
        .unsafeFlags(
            ["-Onone", "-no-whole-module-optimization", "-enable-batch-mode", "-gnone"],
            .when(configuration: .release))
    ]

// Apps that only use the client name this package with `traits: []`: then these packages are not even fetched.
func server(_ product: String, _ package: String) -> Target.Dependency {
    .product(name: product, package: package, condition: .when(traits: ["Server"]))
}

// Products of the packages below, by their usual names.
let logging = server("Logging", "swift-log")
let httpTypes = server("HTTPTypes", "swift-http-types")
let nioCore = server("NIOCore", "swift-nio")
let nioPosix = server("NIOPosix", "swift-nio")
let nioHTTP1 = server("NIOHTTP1", "swift-nio")
let deque = server("DequeModule", "swift-collections")
let heap = server("HeapModule", "swift-collections")
let unixSignals = server("UnixSignals", "swift-service-lifecycle")
let histogram = server("Histogram", "hdrhistogram-swift")
let yams = server("Yams", "Yams")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")

// An arrow never points up or sideways in this list: ParleyServer -> Service -> API -> Log -> Store -> Postgres -> CLibpq.
let package = Package(
    name: "parley",
    // For apps that use the client. The server runs on Linux.
    platforms: [.macOS(.v15), .iOS(.v17)],
    products: [
        .library(name: "Parley", targets: ["Parley"]),
        .library(name: "ParleyObservation", targets: ["ParleyObservation"]),
        .executable(name: "parley", targets: ["ParleyServer"]),
        .executable(name: "parley-bench", targets: ["parley-bench"]),
        .executable(name: "parley-chat", targets: ["parley-chat"]),
        .executable(name: "parley-thumbnailer", targets: ["parley-thumbnailer"]),
    ],
    traits: [
        .trait(name: "Server", description: "The server and its tools, not only the client."),
        .default(enabledTraits: ["Server"]),
    ],
    // Exact versions: a build of one commit brings what was reviewed with it (docs/decisions/build.md: how to renew them).
    dependencies: [
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        // The client's: an app may need another version of its own.
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", exact: "0.2.0"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
    ],
    targets: [
        // What server and client both read and write: JSON, hexadecimal digits, the calendar. Pure, no imports.
        .target(name: "ParleyFormats", swiftSettings: clientSettings),

        // Small values that several targets need: IP addresses, Base64, CRC-32, back-off, slots, the wall clock.
        .target(name: "Basics", dependencies: ["ParleyFormats"], swiftSettings: settings),

        // libcrypto made safe: digests, codes, signatures, key agreement, encryption. Knows nothing of chat.
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .target(name: "Cryptography", dependencies: ["COpenSSL"], swiftSettings: settings),

        // What the operating system offers: threads, epoll, files, child processes.
        .systemLibrary(name: "CLinux"),
        .target(name: "Linux", dependencies: ["CLinux"], swiftSettings: settings),

        // The chat's values, limits and problems, and how requests write them. Pure, no I/O.
        .target(name: "Domain", dependencies: ["Basics", "ParleyFormats"], swiftSettings: settings),

        // What a node reports: counters, histograms, the text that Prometheus reads, log lines with a bounded rate.
        .target(name: "Telemetry", dependencies: [logging], swiftSettings: settings),

        // The loops of all background workers, their tick, and the queue of those that send. Knows nothing of chat.
        .target(name: "Workers", dependencies: ["Basics", "Telemetry", deque, logging], swiftSettings: settings),

        // libpq made safe. Knows nothing of chat.
        .systemLibrary(name: "CLibpq", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .target(
            name: "Postgres", dependencies: ["Basics", "CLibpq", "Linux", "Telemetry", deque, logging],
            swiftSettings: settings),

        // libcurl made safe: mail to relays, requests to web servers. Knows nothing of chat.
        .systemLibrary(name: "CLibcurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .target(name: "Outbound", dependencies: ["Basics", "CLibcurl", "Linux"], swiftSettings: settings),

        // Alerts as APNs, FCM and Web Push want them, and what they answer. No I/O, no accounts.
        .target(
            name: "Push", dependencies: ["Basics", "Cryptography", "Domain", "Outbound"], swiftSettings: settings),

        // Events as Standard Webhooks has them, what endpoints answer, in which order and when they get events. No I/O.
        .target(
            name: "Webhooks", dependencies: ["Basics", "Cryptography", "Domain", "Outbound", "Push", "Workers"],
            swiftSettings: settings),

        // What a file is, and pictures without metadata: reads bytes of strangers. Pure, no I/O, no decoder.
        .target(name: "Pictures", dependencies: ["Basics"], swiftSettings: settings),

        // Draws thumbnails with C decoders, in a process of its own with nothing to steal: one picture, then it ends.
        .systemLibrary(name: "CTurboJPEG", pkgConfig: "libturbojpeg", providers: [.apt(["libturbojpeg0-dev"])]),
        .systemLibrary(name: "CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
        .systemLibrary(name: "CWebP", pkgConfig: "libwebp", providers: [.apt(["libwebp-dev"])]),
        .systemLibrary(name: "CSeccomp", pkgConfig: "libseccomp", providers: [.apt(["libseccomp-dev"])]),
        .target(name: "ThumbnailSandbox", dependencies: ["CSeccomp"], swiftSettings: settings),
        .target(name: "ThumbnailFormat", swiftSettings: settings),
        .executableTarget(
            name: "parley-thumbnailer",
            dependencies: ["CPNG", "CTurboJPEG", "CWebP", "ThumbnailFormat", "ThumbnailSandbox"],
            // Debug builds too must draw the largest pictures within the 5 s of the sandbox.
            swiftSettings: settings + [.unsafeFlags(["-O"], .when(configuration: .debug))]),

        // Runs parley-thumbnailer: two at a time, killed after 10 s.
        .target(
            name: "Thumbnailing", dependencies: ["Basics", "Linux", "ThumbnailFormat", logging],
            swiftSettings: settings),

        // An S3-compatible store: signed URLs and requests. Knows nothing of chat.
        .target(
            name: "ObjectStore", dependencies: ["Basics", "Cryptography", "Outbound"], swiftSettings: settings),

        // Asks a ClamAV daemon about bytes. Knows nothing of chat.
        .target(
            name: "VirusScanner", dependencies: ["Basics", nioCore, nioPosix], swiftSettings: settings),

        // Password hashes, session tokens, signed exports.
        .target(name: "Credentials", dependencies: ["Basics", "Cryptography"], swiftSettings: settings),

        // The host app's own tokens: keys, signatures, claims.
        .target(
            name: "DelegatedTokens", dependencies: ["Basics", "Cryptography", "Domain", logging],
            swiftSettings: settings),

        // A private PostgreSQL: its cluster, its start and its end.
        .target(name: "EmbeddedPostgres", dependencies: ["Linux", logging], swiftSettings: settings),

        // HTTP/1.1 on SwiftNIO, with parked replies. Knows nothing of chat.
        .systemLibrary(name: "CMalloc"),
        .systemLibrary(name: "CLibssl", pkgConfig: "libssl", providers: [.apt(["libssl-dev"])]),
        .target(
            name: "Transport",
            dependencies: ["Basics", "CLibssl", "CMalloc", nioCore, nioPosix, nioHTTP1, httpTypes, logging],
            swiftSettings: settings),

        // One Swift method a SQL function; carries sql/ through a symbolic link.
        .target(
            name: "Store", dependencies: ["Basics", "Domain", "Postgres", "Telemetry", logging],
            exclude: ["embed.json", "sql"],
            swiftSettings: settings,
            plugins: ["EmbedFilesPlugin"]),

        // Archives in one format, in and out: reading lines, staging them, applying them.
        .target(
            name: "Archives", dependencies: ["Basics", "Cryptography", "Domain", "Pictures", "Store", "Telemetry"],
            swiftSettings: settings),

        // Writer, tail, mailboxes, caches.
        .target(
            name: "Log",
            dependencies: [
                "Basics", "Cryptography", "Domain", "Store", "Telemetry", "Workers", deque, logging,
            ],
            swiftSettings: settings),

        // The files of the web client, with their version in the paths, compressed. Knows nothing of HTTP and chat.
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(
            name: "WebClient", dependencies: ["Basics", "CZlib", "Cryptography"],
            exclude: ["deno.json", "dev-server.py", "embed.json", "emoji.py", "page"], swiftSettings: settings,
            plugins: ["EmbedFilesPlugin"]),

        // Routes, request and response shapes, identity, problem documents; carries docs/openapi.yaml.
        .target(
            name: "API",
            dependencies: [
                "Archives", "Basics", "Credentials", "Cryptography", "DelegatedTokens", "Domain", "Log", "Pictures",
                "Store",
                "Telemetry", "Transport", "WebClient", "Workers",
                httpTypes, logging, nioCore,
            ],
            exclude: ["embed.json", "openapi.yaml"], swiftSettings: settings, plugins: ["EmbedFilesPlugin"]),

        // Reads flags, and reports all mistakes of a command line at once. For every executable.
        .target(name: "CommandLineFlags", dependencies: ["Linux"], swiftSettings: settings),

        // Exports of other chat systems as archives that Parley imports. Files in, lines out: no database, no network.
        .target(
            name: "Converters", dependencies: ["Basics", "Cryptography", "Domain", "Linux", "Pictures"],
            swiftSettings: settings),

        // Flags, environment and file, by one table.
        .target(
            name: "ServiceConfiguration", dependencies: ["Basics", "CommandLineFlags", "Domain", "Linux", logging],
            swiftSettings: settings),

        // The load generator: a client of the HTTP API. To set up many accounts fast it also knows the tables of users and
        // sessions and the digests of tokens. It measures the client library, too.
        .target(
            name: "Bench",
            dependencies: [
                "Basics", "CommandLineFlags", "Credentials", "Domain", "Linux", "Parley", "Postgres", heap, histogram,
                logging,
            ],
            exclude: [
                "embed.json", "Baselines/one_transaction_a_message.pgbench", "Baselines/one_transaction_a_message.sql",
            ],
            swiftSettings: settings, plugins: ["EmbedFilesPlugin"]),

        // The node: its parts put together, its workers for alerts, mail and maintenance, its start and its end.
        .target(
            name: "Service",
            dependencies: [
                "API", "Archives", "Basics", "CommandLineFlags", "Converters", "Credentials", "Cryptography",
                "DelegatedTokens", "Domain", "EmbeddedPostgres",
                "Linux", "Log", "ObjectStore", "Outbound", "Pictures", "Postgres", "Push", "ServiceConfiguration",
                "Store", "Telemetry", "Thumbnailing", "Transport", "VirusScanner", "WebClient", "Webhooks",
                "Workers", logging, unixSignals,
            ],
            swiftSettings: settings),

        // The client: the calls of the contract, a store in SQLite, sync, an outbox. Depends on nothing of the server's but
        // the formats.
        .target(
            name: "Parley",
            dependencies: ["ParleyFormats", grdb, .target(name: "CLibcurl", condition: .when(platforms: [.linux]))],
            swiftSettings: clientSettings),

        // The client's lists as observable models, for SwiftUI.
        .target(name: "ParleyObservation", dependencies: ["Parley"], swiftSettings: clientSettings),

        // `parley chat`.
        .target(
            name: "TerminalClient", dependencies: ["CommandLineFlags", "Linux", "Parley"],
            swiftSettings: settings),

        // The executables. No logic. `parley` runs the other two as its commands.
        .executableTarget(
            name: "ParleyServer",
            dependencies: ["CommandLineFlags", "Linux", "Service", "ServiceConfiguration", logging],
            swiftSettings: settings),
        .executableTarget(
            name: "parley-bench", dependencies: ["Bench", "CommandLineFlags", "Linux", logging, unixSignals],
            swiftSettings: settings),
        .executableTarget(
            name: "parley-chat", dependencies: ["CommandLineFlags", "TerminalClient"], swiftSettings: settings),

        // Text files as Swift source, so that the executable carries them.
        .executableTarget(name: "EmbedFilesTool", swiftSettings: settings),
        .plugin(
            name: "EmbedFilesPlugin", capability: .buildTool(), dependencies: ["EmbedFilesTool"],
            path: "Sources/EmbedFilesPlugin"),

        // What all tests use, also those of the client: waiting for a condition, seeds, temporary directories.
        .target(name: "TestBasics", path: "Tests/TestBasics", swiftSettings: testSettings),
        .target(
            name: "TestSupport",
            dependencies: [
                "Basics", "Cryptography", "Domain", "EmbeddedPostgres", "Linux", "Postgres", "Store", "TestBasics",
                logging,
            ],
            path: "Tests/TestSupport",
            exclude: [
                "Pictures/compare.py", "Pictures/make.py", "Servers/decrypt.py", "Servers/policy_server.py",
                "Servers/relay.py", "Servers/s3", "Servers/sinks", "Servers/webhook_sink.py",
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "ParleyFormatsTests", dependencies: ["ParleyFormats", "TestBasics"], swiftSettings: testSettings),
        .testTarget(name: "BasicsTests", dependencies: ["Basics", "TestBasics"], swiftSettings: testSettings),
        .testTarget(
            name: "CryptographyTests", dependencies: ["Basics", "Cryptography"], swiftSettings: testSettings),
        .testTarget(name: "LinuxTests", dependencies: ["Linux"], swiftSettings: testSettings),
        .testTarget(
            name: "DomainTests", dependencies: ["Basics", "Domain", "TestSupport"], swiftSettings: testSettings),
        .testTarget(name: "TelemetryTests", dependencies: ["Telemetry", "TestSupport"], swiftSettings: testSettings),
        .testTarget(
            name: "ServiceConfigurationTests",
            dependencies: ["CommandLineFlags", "Domain", "ServiceConfiguration", "TestSupport", logging],
            swiftSettings: testSettings),
        .testTarget(
            name: "BenchTests", dependencies: ["Bench", "CommandLineFlags", "Linux", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "TerminalClientTests",
            dependencies: ["CommandLineFlags", "Parley", "TerminalClient", "TestBasics"],
            swiftSettings: testSettings),
        .testTarget(name: "OutboundTests", dependencies: ["Outbound", "TestSupport"], swiftSettings: testSettings),
        .testTarget(
            name: "PushTests",
            dependencies: ["Basics", "Cryptography", "Domain", "Outbound", "Push", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "WebhooksTests",
            dependencies: ["Basics", "Domain", "Outbound", "TestSupport", "Webhooks", "Workers"],
            swiftSettings: testSettings),
        .testTarget(
            name: "WorkersTests", dependencies: ["Basics", "Telemetry", "TestSupport", "Workers", logging],
            swiftSettings: testSettings),
        .testTarget(
            name: "ConvertersTests",
            dependencies: ["Basics", "Converters", "Cryptography", "Domain", "TestSupport"],
            exclude: ["Samples"], swiftSettings: testSettings),
        .testTarget(
            name: "PicturesTests", dependencies: ["Basics", "Pictures", "TestSupport"], swiftSettings: testSettings),
        .executableTarget(
            name: "SandboxProbe", dependencies: ["ThumbnailSandbox"], path: "Tests/SandboxProbe",
            swiftSettings: testSettings),
        .testTarget(
            name: "ThumbnailingTests",
            dependencies: [
                "Basics", "Linux", "SandboxProbe", "TestSupport", "ThumbnailFormat", "Thumbnailing",
                "parley-thumbnailer", logging,
            ],
            exclude: ["Pictures/pictures.py"], swiftSettings: testSettings),
        .testTarget(
            name: "ObjectStoreTests",
            dependencies: ["Basics", "Cryptography", "ObjectStore", "Outbound", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "VirusScannerTests", dependencies: ["TestSupport", "VirusScanner", nioCore, nioPosix],
            swiftSettings: testSettings),
        .testTarget(
            name: "CredentialsTests", dependencies: ["Basics", "Credentials", "Cryptography", "TestBasics"],
            swiftSettings: testSettings),
        .testTarget(
            name: "DelegatedTokensTests",
            dependencies: ["Basics", "DelegatedTokens", "Domain", "TestSupport", logging],
            swiftSettings: testSettings),
        .testTarget(name: "EmbedFilesToolTests", dependencies: ["EmbedFilesTool"], swiftSettings: testSettings),
        .testTarget(
            name: "EmbeddedPostgresTests", dependencies: ["EmbeddedPostgres", "Linux", "TestSupport", logging],
            swiftSettings: testSettings),
        .testTarget(
            name: "PostgresTests", dependencies: ["Basics", "Linux", "Postgres", "TestSupport", logging],
            swiftSettings: testSettings),
        .testTarget(
            name: "TransportTests",
            dependencies: ["Basics", "Linux", "TestBasics", "Transport", httpTypes, logging, nioCore, nioPosix],
            exclude: ["TLS/client.py"], swiftSettings: testSettings),
        .testTarget(
            name: "StoreTests", dependencies: ["Domain", "Postgres", "Store", "TestSupport", logging],
            swiftSettings: testSettings),
        .testTarget(
            name: "ArchivesTests",
            dependencies: [
                "Archives", "Basics", "Cryptography", "Domain", "Postgres", "Store", "TestSupport", logging,
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "LogTests", dependencies: ["Domain", "Log", "Postgres", "Store", "TestSupport", logging],
            swiftSettings: testSettings),
        .testTarget(
            name: "WebClientTests", dependencies: ["CZlib", "WebClient"], path: "Tests/WebClientTests/Serving",
            swiftSettings: testSettings),
        .testTarget(
            name: "APITests",
            dependencies: [
                "API", "Basics", "Converters", "Credentials", "Cryptography", "DelegatedTokens", "Domain", "Log",
                "Pictures", "Postgres", "Push", "Service", "ServiceConfiguration", "Store", "Telemetry", "TestSupport",
                "Transport", "WebClient", httpTypes, logging, nioCore, nioHTTP1, nioPosix, yams,
            ],
            swiftSettings: testSettings),

        .testTarget(
            name: "ServiceTests",
            dependencies: [
                "API", "Basics", "Cryptography", "Domain", "Linux", "Outbound", "Postgres", "Push", "Service",
                "ServiceConfiguration", "Store", "Telemetry", "TestSupport", "Thumbnailing", "Transport", "Workers",
                "parley-thumbnailer", logging,
            ],
            swiftSettings: testSettings),

        // One device of one person, for system tests that kill it.
        .executableTarget(
            name: "ClientDevice", dependencies: ["Parley", grdb], path: "Tests/ClientDevice",
            swiftSettings: testSettings),
        .testTarget(
            name: "ParleyTests", dependencies: ["Parley", "TestBasics", yams],
            swiftSettings: testSettings),
        .testTarget(
            name: "ParleyObservationTests", dependencies: ["Parley", "ParleyObservation", "TestBasics"],
            swiftSettings: testSettings),

        // docs/ and README.md, as far as no server is needed to check them.
        .testTarget(
            name: "DocumentationTests",
            dependencies: ["Domain", "TestSupport", yams],
            swiftSettings: testSettings),

        // Black box: the built executable, curl, several processes; Bench for its many polls.
        .testTarget(
            name: "SystemTests", dependencies: ["Basics", "Bench", "Cryptography", "Parley", "TestSupport"],
            exclude: [
                "Attachments/Scripts", "ClientLaw/Devices/faulty_proxy.py", "Documentation/generated_client.py",
                "Documentation/generator.yaml",
            ],
            swiftSettings: testSettings),
    ]
)
