// Declarations in place of UniformTypeIdentifiers', as far as the SDK's tutorial uses them.

public struct UTType: Sendable { public static let image = UTType() }
