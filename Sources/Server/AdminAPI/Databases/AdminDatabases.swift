import CloudKitModel
import Cryptography
import DatabaseAPI
import Foundation
import HTTPService
import JSONCoding
import StoreModel
import WebServices

/// Which database a request of the admin API is about, by its arguments `container`, `environment`,
/// `database` and `user`.
struct AdminDatabases: Sendable {
  static let arguments: [AdminArgument] = [
    .container.needed, .environment, .database, .user,
  ]
  /// Those of an endpoint that without them looks at all databases.
  static let optionalArguments: [AdminArgument] = [.container, .environment, .database, .user]

  let accounts: any AccountReading
  let store: any DatabaseStore
  /// The operations of the protocol.
  let operations: OperationTable

  /// The database's address. `user` is the name of an account or a user record name.
  func address(_ arguments: AdminArguments) async throws -> DatabaseAddress {
    let place = try arguments.place()
    let scope = arguments.text(.database).flatMap { DatabaseScope(pathComponent: $0) } ?? .public
    var owner: String?
    if scope != .public {
      owner = try await userRecordName(try arguments.required(.user), of: .user, arguments)
    }
    return DatabaseAddress(
      container: place.container, environment: place.environment, scope: scope, owner: owner)
  }

  /// The user record name that an argument's value means: itself, or that of the account with this name.
  func userRecordName(
    _ name: String, of argument: AdminArgument, _ arguments: AdminArguments
  ) async throws -> String {
    if let user = try await accounts.user(named: name) { return user.userRecordName }
    guard name.hasPrefix("_") else {
      throw arguments.mistake(argument, "names no account: '\(name.prefix(80))'")
    }
    return name
  }

  /// The database, which has to be there: looking at one must not make it.
  func existing(_ arguments: AdminArguments) async throws -> (DatabaseID, DatabaseAddress) {
    let address = try await address(arguments)
    guard let database = try await store.existingDatabase(at: address) else {
      throw ServiceError(.notFound, "this database was never used: nothing is in it")
    }
    return (database, address)
  }

  /// A request of the protocol as the database's owner makes it, with all permissions. In the public
  /// database the key itself is who makes changes.
  func context(
    _ request: AdminRequest, operation: String, body: Data
  ) async throws -> RequestContext {
    let address = try await address(request.arguments)
    return RequestContext(
      administrator: address.owner ?? request.identity.userRecordName, operation: operation,
      address: address, uuid: request.uuid, body: body, now: request.now)
  }

  /// The answer of an operation of the protocol, as the database's owner gets it.
  ///
  /// - Parameter members: the arguments that are the members of the operation's request.
  func answer(
    _ request: AdminRequest, operation name: String, with members: [AdminArgument]
  ) async throws -> HTTPResponse {
    let operation = try operations.operation(named: name)
    let context = try await context(
      request, operation: name, body: request.protocolBody(members))
    if let refusal = operation.refusal(in: context.path.scope) { throw refusal }
    return HTTPResponse(json: try await operation.respond(context))
  }
}

/// Where a list goes on, in a form that only the server reads.
enum AdminContinuation {
  static func text(_ parts: [String]) -> String {
    Base64URL.encode(JSONValue.array(parts.map(JSONValue.string)).text.utf8)
  }

  /// - Throws: `BAD_REQUEST` for what ``text(_:)`` did not make.
  static func parts(
    _ arguments: AdminArguments, count: Int
  ) throws(ServiceError) -> [String]? {
    guard let text = arguments.text(.continuation) else { return nil }
    // The caller gets an error that names the argument.
    let json = Base64URL.decode(text).flatMap { try? JSONValue(parsing: Data($0)) }
    let parts = json?.array?.compactMap { $0.string }
    guard let parts, parts.count == count else {
      throw arguments.mistake(.continuation, "is none that this list gave")
    }
    return parts
  }
}
