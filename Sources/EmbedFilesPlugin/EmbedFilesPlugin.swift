// Runs the embedding tool for a target that has an embed.json.
import Foundation
import PackagePlugin

/// `embed.json` in a target's folder: `{"enum": "EmbeddedSQL", "files": {"migrations": "sql/migrations/*.sql"}}`, a
/// constant for each pattern, which names one folder below the package's root and an ending, or one file.
@main
struct EmbedFilesPlugin: BuildToolPlugin {
    private struct Plan: Decodable {
        var `enum`: String
        var files: [String: String]
    }

    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let root = context.package.directoryURL
        let plan = try JSONDecoder().decode(
            Plan.self, from: Data(contentsOf: target.directoryURL.appending(path: "embed.json")))
        let output = context.pluginWorkDirectoryURL.appending(path: "\(plan.enum).swift")
        var arguments = [output.path(percentEncoded: false), plan.enum]
        var inputs: [URL] = []
        for (name, pattern) in plan.files.sorted(by: { $0.key < $1.key }) {
            let files = try Self.files(root.appending(path: pattern))
            arguments += ["\(name)="] + files.map { $0.path(percentEncoded: false) }
            inputs += files
        }
        return [
            .buildCommand(
                displayName: "Embedding \(plan.enum)", executable: try context.tool(named: "EmbedFilesTool").url,
                arguments: arguments, inputFiles: inputs, outputFiles: [output])
        ]
    }

    /// In the order of their names.
    private static func files(_ pattern: URL) throws -> [URL] {
        guard pattern.lastPathComponent.hasPrefix("*") else { return [pattern] }
        let ending = pattern.lastPathComponent.dropFirst()
        return try FileManager.default.contentsOfDirectory(at: pattern.deletingLastPathComponent(), includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent.hasSuffix(ending) }
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
    }
}
