// Writes text files as Swift source, so that an executable carries them. Run by EmbedFilesPlugin during the build:
//
//     EmbedFilesTool <embed.json> <directory of the target> <output.swift>

import Foundation

/// The contents of embed.json; see EmbedFilesPlugin.
struct Configuration: Decodable {
    let `enum`: String
    /// Paths in the target's directory, by the name that the constant gets.
    let folders: [String: String]?
    let files: [String: String]?
}

struct EmbedFailure: Error, CustomStringConvertible {
    let description: String
}

@main
struct EmbedFilesTool {
    static func main() {
        do {
            let arguments = CommandLine.arguments
            guard arguments.count == 4 else {
                throw EmbedFailure(description: "usage: EmbedFilesTool <embed.json> <directory> <output.swift>")
            }
            try run(configuration: arguments[1], directory: arguments[2], output: arguments[3])
        } catch {
            FileHandle.standardError.write(Data("error: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(configuration path: String, directory: String, output: String) throws {
        let data = try Data(contentsOf: URL(filePath: path))
        let configuration = try JSONDecoder().decode(Configuration.self, from: data)
        let folders = try (configuration.folders ?? [:]).sorted { $0.key < $1.key }.map { name, folder in
            SwiftSource.Constant(name: name, value: .folder(try texts(in: directory + "/" + folder)))
        }
        let files = try (configuration.files ?? [:]).sorted { $0.key < $1.key }.map { name, file in
            SwiftSource.Constant(name: name, value: .file(try text(directory + "/" + file)))
        }
        let source = Data(SwiftSource.text(enumName: configuration.enum, constants: folders + files).utf8)
        // Left alone if nothing changed, so that nothing is compiled again.
        if (try? Data(contentsOf: URL(filePath: output))) != source {
            try source.write(to: URL(filePath: output), options: .atomic)
        }
    }

    /// The files of a folder and of the folders in it, in the order of their paths, which are their names. Hidden files
    /// and folders are left out.
    private static func texts(in folder: String) throws -> [(name: String, text: String)] {
        func paths(below prefix: String) throws -> [String] {
            let directory = folder + "/" + prefix
            let names = try FileManager.default.contentsOfDirectory(atPath: directory).filter { !$0.hasPrefix(".") }
            return try names.flatMap { name in
                var isDirectory: ObjCBool = false
                guard FileManager.default.fileExists(atPath: directory + name, isDirectory: &isDirectory) else {
                    return [String]()
                }
                return isDirectory.boolValue ? try paths(below: prefix + name + "/") : [prefix + name]
            }
        }
        return try paths(below: "").sorted().map { ($0, try text(folder + "/" + $0)) }
    }

    private static func text(_ path: String) throws -> String {
        guard let text = String(validating: try Data(contentsOf: URL(filePath: path)), as: UTF8.self) else {
            throw EmbedFailure(description: "\(path) is not UTF-8 text")
        }
        return text
    }
}
