import CloudKitModel
import Foundation
import StoreModel
import WebServices

/// A request whose path was read and whose caller is known.
package struct RequestContext: Sendable {
  package var path: ServicePath
  var credentials: Credentials
  /// What the request is called in the log, and what the notification IDs of its changes begin with.
  var uuid = RequestUUID()
  /// The name that the client gave for its device.
  var deviceID: String?
  /// Whether the device that makes a change gets no push for it.
  var excludesOriginDevice: Bool
  /// Whether a subscription that watches for the same as another of the caller's is refused.
  var refusesEqualSubscriptions: Bool
  var body: Data
  var now: Timestamp
  /// Bytes that the database may have; nil for any number.
  var databaseQuota: Int64?

  package var caller: Caller { credentials.caller }

  /// Is told of the items that fail.
  var report: @Sendable ([ServiceError]) -> Void = { _ in }
  /// Receives the subscriptions of the request that replaced others of another type.
  var reportReplacements: @Sendable ([ReplacedSubscription]) -> Void = { _ in }

  /// The items of an answer, of which those that failed are reported.
  func reported<Item>(_ items: [Result<Item, FailedItem>]) -> [Result<Item, FailedItem>] {
    let failures = items.compactMap { item in
      if case .failure(let failed) = item { failed.error } else { nil }
    }
    if !failures.isEmpty { report(failures) }
    return items
  }

  /// The caller's user record name: a user's, or that of a server-to-server key.
  ///
  /// - Throws: `AUTHENTICATION_REQUIRED` for anonymous callers.
  func user() throws(ServiceError) -> String {
    guard let name = caller.userRecordName else {
      throw .signInNeeded(for: path.operation)
    }
    return name
  }

  /// The database's scope.
  ///
  /// - Throws: `BAD_REQUEST` when the path names none.
  func scope() throws(ServiceError) -> DatabaseScope {
    guard let scope = path.scope else {
      throw ServiceError(.badRequest, "\(path.operation) needs a database in its path")
    }
    return scope
  }

  /// The address of the database that the request is for.
  ///
  /// - Throws: `AUTHENTICATION_REQUIRED` when an anonymous caller asks for another than the public
  ///   one.
  func address() throws(ServiceError) -> DatabaseAddress {
    let scope = try scope()
    return DatabaseAddress(
      container: path.container, environment: path.environment, scope: scope,
      owner: scope == .public ? nil : try user())
  }

  /// Names of owners on the wire: in one's own database the caller's name stands for "current
  /// owner".
  package func messageContext(numbersAsStrings: Bool = false) -> MessageContext {
    MessageContext(
      ownerNaming: caller.userRecordName.map { .relative(to: $0) } ?? .explicit,
      numbersAsStrings: numbersAsStrings, writesImplied: true)
  }

  func origin() throws(ServiceError) -> ChangeOrigin {
    ChangeOrigin(
      userRecordName: try user(), deviceID: excludesOriginDevice ? deviceID : nil, request: uuid)
  }
}

extension RequestContext {
  /// A request of an operator's, who has all permissions.
  ///
  /// - Parameter userRecordName: who makes the changes.
  package init(
    administrator userRecordName: String, operation: String, address: DatabaseAddress,
    uuid: RequestUUID, body: Data, now: Timestamp
  ) {
    self.init(
      path: ServicePath(
        container: address.container, environment: address.environment, scope: address.scope,
        operation: operation),
      credentials: Credentials(caller: .administrator(userRecordName: userRecordName)),
      excludesOriginDevice: false, refusesEqualSubscriptions: false, body: body, now: now)
    self.uuid = uuid
  }
}
