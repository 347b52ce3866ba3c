import CloudKitModel
import Explanation
import Foundation
import JSONCoding
import Storage

/// The options by which explanations are asked for.
enum ExplainOptions {
  static let place: [Arguments.Option] = [
    ContainerOptions.container, ContainerOptions.environment,
    .init("database", "SCOPE", "public or private (default public)"),
    .init("user", "USER", "whose private database is meant: a name or a user record name"),
  ]
  static let question: [Arguments.Option] = [
    .init("subscription", "ID", "only subscriptions with this ID"),
    .init("subscriber", "USER", "only subscriptions of this user: a name or a user record name"),
  ]
  static let output: [Arguments.Option] = [
    .init("limit", "NUMBER", "changes or firings at most, 1 to 1000 (default 10)"),
    .init("json", nil, "prints JSON, with times in milliseconds since 1970"),
    ServeCommand.dataOption,
  ]

  /// The database that the options name.
  ///
  /// - Throws: ``UsageError`` when there is none.
  static func database(
    _ arguments: Arguments, in store: any RecordStore
  ) async throws -> (id: DatabaseID, address: DatabaseAddress) {
    let container = try ContainerOptions.container(arguments)
    let environment = try ContainerOptions.environment(arguments)
    var address = DatabaseAddress(
      container: container, environment: environment, scope: .public, owner: nil)
    switch arguments.string("database") {
    case nil, "public":
      break
    case "private":
      guard let user = arguments.string("user") else {
        throw UsageError("--database private needs --user, whose database it is")
      }
      address.scope = .private
      address.owner = try await recordName(of: user, in: store)
    case let other?:
      throw UsageError("--database must be public or private, not '\(other)'")
    }
    guard let id = try await store.existingDatabase(at: address) else {
      throw UsageError(
        "nothing was ever saved in the \(address.scope) database of \(container) "
          + "(\(environment.rawValue))")
    }
    return (id, address)
  }

  static func question(
    _ arguments: Arguments, in store: any RecordStore
  ) async throws -> Explainer.Question {
    var question = Explainer.Question(subscriptionID: arguments.string("subscription"))
    if let user = arguments.string("subscriber") {
      question.subscriber = try await recordName(of: user, in: store)
    }
    return question
  }

  static func explainer(
    _ arguments: Arguments, of store: any RecordStore
  ) throws -> Explainer {
    var limits = Explainer.Limits()
    limits.changes = try arguments.int("limit", in: 1...1_000) ?? limits.changes
    return Explainer(store: store, limits: limits)
  }

  static func recordName(of user: String, in store: any RecordStore) async throws -> String {
    if let known = try await store.user(named: user) { return known.userRecordName }
    if let known = try await store.user(withRecordName: user) { return known.userRecordName }
    throw UsageError("there is no user '\(user)'; petrel users list names them")
  }

  static func zone(_ arguments: Arguments) -> ZoneID {
    arguments.string("zone").map { ZoneID(zoneName: $0) } ?? .default
  }

  static func print(_ json: JSONValue) {
    var writer = JSONWriter()
    writer.value(json)
    Output.line(String(decoding: writer.data, as: UTF8.self))
  }
}
