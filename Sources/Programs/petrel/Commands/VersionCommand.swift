import CommandInterface
import Configuration

/// The command `petrel version`, which prints the version of the program.
struct VersionCommand: Command {
  let name = "version"
  let example = "petrel version"
  let summary = "Prints the version."
  let options: [Arguments.Option] = [AdminOptions.json]

  static let version = ServerVersion.current

  func run(_ arguments: Arguments) async throws -> Int32 {
    if arguments.flag("json") {
      Output.json(["version": .string(Self.version)])
    } else {
      Output.line("petrel \(Self.version)")
    }
    return 0
  }
}
