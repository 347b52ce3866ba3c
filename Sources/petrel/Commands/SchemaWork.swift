import CloudKitModel
import Foundation
import PetrelServer
import SchemaLanguage
import Storage

/// What the commands on schemas do alike.
enum SchemaWork {
  static let changeOptions: [Arguments.Option] = [
    .init("dry-run", nil, "only print what would be changed"),
    .init("data", "DIRECTORY", "where the store lies (default .petrel)"),
  ]

  /// The container that the first word names.
  static func container(
    _ arguments: Arguments, others: Int, _ wanted: String = ""
  ) throws -> String {
    guard arguments.positional.count == 1 + others else {
      throw UsageError("needs a CONTAINER \(wanted)".trimmingCharacters(in: .whitespaces))
    }
    let container = arguments.positional[0]
    guard container.hasPrefix("iCloud.") else {
      throw UsageError("container '\(container)' must begin with 'iCloud.'")
    }
    return container
  }

  static func environment(
    _ arguments: Arguments, default standard: ContainerEnvironment
  ) throws -> ContainerEnvironment {
    guard let name = arguments.string("environment") else { return standard }
    guard let environment = ContainerEnvironment(rawValue: name) else {
      throw UsageError("--environment must be development or production, not '\(name)'")
    }
    return environment
  }

  /// Opens the store beside a server that may run, and closes it.
  static func withStore<Value: Sendable>(
    _ arguments: Arguments, _ body: (any RecordStore) async throws -> Value
  ) async throws -> Value {
    let store = try await ServeCommand.openStore(
      in: ServeCommand.dataDirectory(arguments), role: .tool)
    do {
      let value = try await body(store)
      await store.close()
      return value
    } catch {
      await store.close()
      throw error
    }
  }

  /// Reads a schema file; nil when it has a mistake, which was told.
  static func readSchema(_ file: String) throws -> ContainerSchema? {
    guard let data = FileManager.default.contents(atPath: file) else {
      throw UsageError("cannot read \(file)")
    }
    guard let text = String(data: data, encoding: .utf8) else {
      throw UsageError("\(file) is not UTF-8 text")
    }
    do {
      return try ContainerSchema(parsing: text)
    } catch {
      Output.complain("\(file):\(error.line):\(error.column): \(error.reason)")
      if let excerpt = error.excerpt(of: text) {
        FileHandle.standardError.write(Data((excerpt + "\n").utf8))
      }
      return nil
    }
  }

  /// Prints the changes and refusals.
  ///
  /// - Returns: the exit status.
  static func tell(_ outcome: SchemaOutcome, isTrial: Bool) -> Int32 {
    for change in outcome.changes { Output.line("\(change)") }
    if outcome.changes.isEmpty { Output.line("nothing to change") }
    for refusal in outcome.refusals { Output.complain("refused: \(refusal.reason)") }
    if outcome.refusals.isEmpty { return 0 }
    if !isTrial { Output.complain("nothing was changed") }
    return 1
  }

  /// Tells what was done, and builds the indexes when no server does.
  ///
  /// - Returns: the exit status.
  static func finish(
    _ outcome: SchemaOutcome, isTrial: Bool, _ arguments: Arguments, in store: any RecordStore
  ) async throws -> Int32 {
    let status = tell(outcome, isTrial: isTrial)
    guard status == 0, !isTrial, try await !store.indexWork().isEmpty else { return status }
    let path = ServerConfiguration(
      dataDirectory: ServeCommand.dataDirectory(arguments)
    ).storePath
    guard !SQLRecordStore.isServed(at: path) else {
      Output.line("the server builds the indexes; petrel schema status tells how far it is")
      return 0
    }
    var report = IndexWorkReport()
    while let work = try await store.continueIndexWork() {
      if let line = report.line(after: work, at: ContinuousClock.now) { Output.line(line) }
    }
    return 0
  }
}
