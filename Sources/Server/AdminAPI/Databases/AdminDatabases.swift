import CloudKitModel
import Cryptography
import DatabaseAPI
import Foundation
import HTTPService
import JSONCoding
import Storage
import StoreModel
import WebServices

/// The selection of a database by the arguments `container`, `environment`, `database` and `user`,
/// and the operations of the web services protocol on this database.
struct AdminDatabases: Sendable {
  let accounts: AccountService
  let store: DatabaseService
  let operations: OperationTable

  /// Returns the address of the selected database. The database need not exist.
  ///
  /// - Throws: `BAD_REQUEST` if the container is invalid, if `user` is missing or unknown for a
  ///   private or shared database, or if there is a `user` without a `database`.
  func address(_ arguments: AdminArguments) async throws -> DatabaseAddress {
    let place = try arguments.place()
    if arguments.text(.databaseUser) != nil, arguments.text(.database) == nil {
      throw arguments.mistake(
        .database, "is missing: a request with 'user' must say which database it means")
    }
    let scope = arguments.text(.database).flatMap { DatabaseScope(pathComponent: $0) } ?? .public
    var owner: String?
    if scope != .public {
      owner = try await userRecordName(
        try arguments.required(.databaseUser), of: .databaseUser, arguments)
    }
    return DatabaseAddress(
      container: place.container, environment: place.environment, scope: scope, owner: owner)
  }

  /// Returns the user record name that an argument's value stands for. The value is an account's
  /// name, or a user record name itself, which begins with `_`.
  ///
  /// - Throws: `BAD_REQUEST` for a text that is neither an account's name nor begins with `_`. A
  ///   user record name need not have an account.
  func userRecordName(
    _ name: String, of argument: AdminArgument, _ arguments: AdminArguments
  ) async throws -> String {
    if let user = try await accounts.user(named: name) { return user.userRecordName }
    guard name.hasPrefix("_") else {
      throw arguments.mistake(argument, "is not the name of an account: '\(name.prefix(80))'")
    }
    return name
  }

  /// Returns the selected database and its address. Throws `NOT_FOUND` if it does not exist.
  func existing(_ arguments: AdminArguments) async throws -> (DatabaseID, DatabaseAddress) {
    let address = try await address(arguments)
    guard let database = try await store.existingDatabase(at: address) else {
      throw ServiceError(.notFound, "this database does not exist yet: nothing was saved in it")
    }
    return (database, address)
  }

  /// Returns the context of an operation that runs with all permissions of the database's owner. In
  /// the public database, changed records get ``AdminIdentity/userRecordName`` as creator or
  /// modifier.
  func context(
    _ request: AdminRequest, operation: String, body: Data
  ) async throws -> RequestContext {
    let address = try await address(request.arguments)
    return RequestContext(
      administrator: address.owner ?? request.identity.userRecordName, operation: operation,
      address: address, uuid: request.uuid, body: body, now: request.now)
  }

  /// Runs an operation of the web services protocol and returns its answer as the database's owner
  /// would get it. The operation reads its members from the request's body, and ignores those that
  /// select the database.
  func answer(_ request: AdminRequest, operation name: String) async throws -> HTTPResponse {
    let operation = try operations.operation(named: name)
    let context = try await context(request, operation: name, body: request.http.body)
    if let refusal = operation.refusal(in: context.path.scope) { throw refusal }
    return HTTPResponse(json: try await operation.respond(context))
  }
}

/// The continuation of a list: a text that clients return unchanged to get the next page.
///
/// In a list in the order of subscribers and subscription IDs, the text encodes these two values of
/// the last row:
///
///     AdminContinuation.text(["_alice", "all-quakes"])
///
/// The text contains no row number. So no row is repeated or left out if rows before it are added
/// or removed between two requests.
enum AdminContinuation {
  /// Encodes the sort key of a page's last row, as Base64URL of a JSON array.
  static func text(_ parts: [String]) -> String {
    Base64URL.encode(JSONValue.array(parts.map(JSONValue.string)).text.utf8)
  }

  /// Returns the parts of the argument `continuation`, which must be `count`; nil if there is none.
  static func parts(
    _ arguments: AdminArguments, count: Int
  ) throws(ServiceError) -> [String]? {
    guard let text = arguments.text(.continuation) else { return nil }
    // The next check reports the error with the argument's name.
    let json = Base64URL.decode(text).flatMap { try? JSONValue(parsing: Data($0)) }
    let parts = json?.array?.compactMap { $0.string }
    guard let parts, parts.count == count else {
      throw arguments.mistake(.continuation, "is not a continuation of this list")
    }
    return parts
  }
}
