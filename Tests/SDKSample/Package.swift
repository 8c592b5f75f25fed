// swift-tools-version: 6.2
// A small app on the SDK, as its developers would begin one. `make sample` builds and runs it from outside the repository.
import PackageDescription

let package = Package(
    name: "sample",
    platforms: [.macOS(.v15)],
    dependencies: [
        // An app names a release instead: .package(url: "https://…/parley", from: "0.1.0", traits: []).
        .package(name: "parley", path: "../..", traits: [])
    ],
    targets: [
        .executableTarget(name: "sample", dependencies: [.product(name: "Parley", package: "parley")]),

        // The code of the SDK's articles. DocumentationTests compares it with them. Running it runs the article's test.
        .executableTarget(
            name: "Snippets",
            dependencies: [
                .product(name: "Parley", package: "parley"),
                .product(name: "ParleyObservation", package: "parley"),
            ]),
    ]
)
