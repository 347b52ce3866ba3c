import CloudKitModel
import CommandInterface
import Foundation
import JSONCoding
import PetrelServer
import SchemaLanguage

/// What the commands on schemas do alike.
enum SchemaWork {
  static let changeOptions: [Arguments.Option] = [
    ContainerOptions.container, .init("dry-run", nil, "only print what would be changed"),
    AdminOptions.json,
  ]

  /// The container, which may also be the first word, without its option, as it once had to be.
  static func container(_ arguments: Arguments) throws -> String {
    if arguments.string("container") == nil, arguments.positional.count == 1 {
      return try ContainerOptions.checked(arguments.positional[0])
    }
    guard arguments.positional.isEmpty else { throw UsageError("takes no words but options") }
    return try ContainerOptions.container(arguments)
  }

  /// The same, with the file that the command is about.
  static func containerAndFile(_ arguments: Arguments) throws -> (container: String, file: String) {
    var words = arguments.positional
    let container =
      arguments.string("container") == nil && words.count == 2
      ? try ContainerOptions.checked(words.removeFirst())
      : try ContainerOptions.container(arguments)
    guard words.count == 1 else { throw UsageError("needs one FILE") }
    return (container, words[0])
  }

  /// Reads a schema file, whose mistakes can be shown where they stand; nil when it has one, which was
  /// told.
  static func readSchema(
    _ file: String
  ) throws -> (schema: ContainerSchema, text: String)? {
    guard let data = FileManager.default.contents(atPath: file) else {
      throw UsageError("cannot read \(file)")
    }
    guard let text = String(data: data, encoding: .utf8) else {
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

  /// Prints the changes and refusals.
  ///
  /// - Returns: the exit status.
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

  /// Tells what was done, and builds the indexes when no server does.
  ///
  /// - Returns: the exit status.
  static func finish(
    _ outcome: JSONValue, isDryRun: Bool, _ arguments: Arguments, by access: any AdminAccess
  ) async throws -> Int32 {
    let status = show(outcome, isDryRun: isDryRun, arguments)
    // What an earlier command did not come to the end of is done, too.
    guard status == 0, !isDryRun,
      try await access.get("schema/index-work")["indexWork"]?.array?.isEmpty == false
    else { return status }
    let isQuiet = arguments.flag("json")
    guard let local = access as? LocalAdminAccess, !local.isServed else {
      if !isQuiet, outcome["changes"]?.array?.isEmpty == false {
        Output.line("the server builds the indexes; petrel schema status tells how far it is")
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
