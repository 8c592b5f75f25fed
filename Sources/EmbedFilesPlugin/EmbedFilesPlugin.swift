// Build-tool plugin: runs EmbedFilesTool, which writes a target's embedded files as one Swift file. The target's
// embed.json says which files.

import Foundation
import PackagePlugin

/// Applied to a target whose directory holds an `embed.json` such as
///
///     {
///         "enum": "EmbeddedSQL",
///         "folders": {"migrations": "sql/migrations", "functions": "sql/functions"},
///         "files": {"openAPI": "openapi.yaml"}
///     }
///
/// with paths inside the target's directory. The target gets `enum EmbeddedSQL` with one `static let migrations:
/// [(name: String, text: String)]` for each folder and one `static let openAPI: String` for each file. A folder's files
/// are in the order of their names; a file in a folder of that folder is named `members/member.sql`.
///
/// A file outside of the target needs a symbolic link in the target's directory. SwiftPM plans the build again when a
/// file appears or disappears there (it follows links), and looks nowhere else: a new file outside would not be
/// noticed. List the link and embed.json in the target's `exclude`.
@main
struct EmbedFilesPlugin: BuildToolPlugin {
    private struct Configuration: Decodable {
        let folders: [String: String]?
        let files: [String: String]?
    }

    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
        guard let target = target as? any SourceModuleTarget else { return [] }
        let root = target.directoryURL
        let file = root.appending(path: "embed.json")
        let configuration = try JSONDecoder().decode(Configuration.self, from: Data(contentsOf: file))
        let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedFiles.swift")

        func inside(_ path: String) throws -> URL {
            guard !path.hasPrefix("/"), !path.split(separator: "/").contains("..") else {
                throw Failure(description: "\(file.path): \(path) is outside the target: put a symbolic link there.")
            }
            return root.appending(path: path)
        }
        var inputs = [file] + (try (configuration.files ?? [:]).values.sorted().map(inside))
        for folder in (configuration.folders ?? [:]).values.sorted() {
            inputs += try FileManager.default.subpathsOfDirectory(atPath: inside(folder).path).sorted()
                .map { try inside(folder + "/" + $0) }
        }
        return [
            .buildCommand(
                displayName: "Embedding files into \(target.name)",
                executable: try context.tool(named: "EmbedFilesTool").url,
                arguments: [file.path, root.path, output.path],
                inputFiles: inputs, outputFiles: [output])
        ]
    }
}
