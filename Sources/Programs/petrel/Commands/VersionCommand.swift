import CommandInterface
import Configuration

/// The command `petrel version`, which prints the version of the program.
enum VersionCommand: Command {
  static let name = "version"
  static let example = "petrel version"
  static let summary = "Prints the version."
  static let options: [Arguments.Option] = [AdminOptions.json]

  /// The version of the server and the program.
  static let version = ServerVersion.current

  static func run(_ arguments: Arguments) async throws -> Int32 {
    if arguments.flag("json") {
      Output.json(["version": .string(version)])
    } else {
      Output.line("petrel \(version)")
    }
    return 0
  }
}
