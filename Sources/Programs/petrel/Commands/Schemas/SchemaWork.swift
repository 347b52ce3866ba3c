import AdminAPI
import CloudKitModel
import CommandInterface
import Foundation
import JSONCoding
import PetrelServer
import SchemaLanguage
import Settings

/// The parts that the `schema` commands share.
enum SchemaWork {
  static let changeOptions: [Arguments.Option] = [
    AdminArgument.container.needed.commandOption,
    .init("dry-run", nil, "only prints what would change"),
    AdminOptions.json,
  ]

  /// Returns the container. The user may also name the container as the first word, without
  /// `--container`, as in earlier versions.
  ///
  /// - Throws: `UsageError` if there is no container or it is invalid.
  static func container(_ arguments: Arguments) throws -> String {
    if arguments.string("container") == nil, arguments.positional.count == 1 {
      return try AdminArgument.container.checked(arguments.positional[0])
    }
    guard arguments.positional.isEmpty else { throw UsageError("takes only options") }
    return try AdminArgument.container.checked(arguments.string("container"))
  }

  /// Returns the container and the FILE of a command. The user may also name the container as the
  /// first of two words, without `--container`.
  ///
  /// - Throws: `UsageError` if one of them is missing, or the container is invalid.
  static func containerAndFile(_ arguments: Arguments) throws -> (container: String, file: String) {
    var words = arguments.positional
    let container =
      arguments.string("container") == nil && words.count == 2
      ? words.removeFirst() : arguments.string("container")
    guard words.count == 1 else { throw UsageError("needs one FILE") }
    return (try AdminArgument.container.checked(container), words[0])
  }

  /// Reads and parses a schema file. If it has a mistake, the function prints it with the line and
  /// returns `nil`.
  ///
  /// - Throws: `InputFile.Failure` if the file cannot be read, `UsageError` if it is no UTF-8.
  static func readSchema(
    _ file: String
  ) throws -> (schema: ContainerSchema, text: String)? {
    guard let text = String(data: try InputFile.contents(of: file), encoding: .utf8) else {
      throw UsageError("\(file) is not UTF-8 text")
    }
    do {
      return (try ContainerSchema(parsing: text), text)
    } catch {
      Output.complain("\(file):\(error.line):\(error.column): \(error.reason)")
      if let excerpt = error.excerpt(of: text) {
        Output.writeError(excerpt + "\n")
      }
      return nil
    }
  }

  /// Prints the changes, and the refused changes on standard error. With `--json`, prints the whole
  /// outcome on standard output.
  ///
  /// - Parameter isDryRun: Whether nothing was to be changed.
  /// - Returns: The exit status: 1 if a change was refused, otherwise 0.
  static func show(_ outcome: JSONValue, isDryRun: Bool, _ arguments: Arguments) -> Int32 {
    let changes = (outcome["changes"]?.array ?? []).compactMap(\.string)
    let refusals = (outcome["refusals"]?.array ?? []).compactMap(\.string)
    if arguments.flag("json") {
      Output.json(outcome)
      return refusals.isEmpty ? 0 : 1
    }
    for change in changes { Output.line(change) }
    if changes.isEmpty { Output.line("nothing to change") }
    for refusal in refusals { Output.complain("refused: \(refusal)") }
    if refusals.isEmpty { return 0 }
    if !isDryRun { Output.complain("nothing was changed") }
    return 1
  }

  /// Prints the outcome of a change. If indexes must be built, and the command works on a store
  /// that no server has open, builds the indexes in this process.
  ///
  /// - Returns: The exit status: 1 if a change was refused, otherwise 0.
  static func finish(
    _ outcome: JSONValue, isDryRun: Bool, _ arguments: Arguments, by access: any AdminAccess
  ) async throws -> Int32 {
    let status = show(outcome, isDryRun: isDryRun, arguments)
    // The indexes may also come from an earlier command that was interrupted.
    guard status == 0, !isDryRun,
      try await access.get("schema/index-work")["indexWork"]?.array?.isEmpty == false
    else { return status }
    let isQuiet = arguments.flag("json")
    guard let local = access as? LocalAdminAccess, !local.isServed else {
      if !isQuiet, outcome["changes"]?.array?.isEmpty == false {
        Output.line("the server builds the indexes; petrel schema status shows the progress")
      }
      return 0
    }
    var report = IndexWorkReport()
    while let work = try await local.maintenance.continueIndexWork() {
      if let line = report.line(after: work, at: ContinuousClock.now), !isQuiet {
        Output.line(line)
      }
    }
    return 0
  }
}
