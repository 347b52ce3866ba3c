import CloudKitModel
import Foundation
import PetrelServer
import Storage

/// What the commands `petrel keys …` have in common.
enum KeysCommand {
  static let data = Arguments.Option("data", "DIRECTORY", "where the store lies (default .petrel)")
  static let container = Arguments.Option(
    "container", "IDENTIFIER", "the container, such as iCloud.com.example.app")
  static let environment = Arguments.Option(
    "environment", "NAME", "development or production (default development)")

  /// Opens the store beside a server that may run, and closes it after `body`.
  static func withStore<Value>(
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

  /// The one word after the command.
  static func name(_ arguments: Arguments, _ what: String) throws -> String {
    guard arguments.positional.count == 1, let name = arguments.positional.first, !name.isEmpty
    else { throw UsageError("needs one \(what)") }
    return name
  }

  static func container(_ arguments: Arguments) throws -> String {
    guard let container = arguments.string("container") else {
      throw UsageError("needs --container IDENTIFIER")
    }
    guard container.hasPrefix("iCloud."), !container.contains("/") else {
      throw UsageError(
        "--container must begin with 'iCloud.', as in iCloud.com.example.app, not '\(container)'")
    }
    return container
  }

  static func environment(_ arguments: Arguments) throws -> ContainerEnvironment {
    guard let text = arguments.string("environment") else { return .development }
    guard let environment = ContainerEnvironment(rawValue: text) else {
      throw UsageError("--environment must be development or production, not '\(text)'")
    }
    return environment
  }
}
