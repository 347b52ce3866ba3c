import CloudKitModel
import Foundation
import StoreModel
import WebServices

/// A request after the router has parsed its path and identified its caller.
///
/// The router creates one for each request of the protocol, and the handler of an ``Operation``
/// receives it. The admin API creates its own with
/// ``init(administrator:operation:address:uuid:body:now:)``.
package struct RequestContext: Sendable {
  /// The container, the environment, the database and the operation that the request names.
  package var path: ServicePath
  /// The caller, and the tokens or the signature that identified the caller.
  var credentials: Credentials
  /// The identifier of the request in the log. The notification IDs of its changes begin with it.
  var uuid = RequestUUID()
  /// The client's name for its device, from the query parameter `clientId`; nil if the request has
  /// none.
  var deviceID: String?
  /// Whether the device that makes a change gets no push for it. It is a setting of the container.
  var excludesOriginDevice: Bool
  /// Whether the server refuses a subscription that watches the same as another of the caller's
  /// subscriptions. It is a setting of the container.
  var refusesEqualSubscriptions: Bool
  /// The body of the request, not parsed yet.
  var body: Data
  /// The time of the request, by the server's clock. All changes of the request have this time.
  var now: Timestamp
  /// The number of bytes that the database may use; nil if there is no quota.
  var databaseQuota: Int64?

  /// The caller that the request's credentials identified.
  package var caller: Caller { credentials.caller }

  /// Receives the errors of the items that failed, for the log and the metrics.
  var report: @Sendable ([ServiceError]) -> Void = { _ in }
  /// Receives the subscriptions of the request that replaced one of another type, for the log.
  var reportReplacements: @Sendable ([ReplacedSubscription]) -> Void = { _ in }

  /// Reports the items that failed, and returns all items unchanged.
  func reported<Item>(_ items: [Result<Item, FailedItem>]) -> [Result<Item, FailedItem>] {
    let failures = items.compactMap { item in
      if case .failure(let failed) = item { failed.error } else { nil }
    }
    if !failures.isEmpty { report(failures) }
    return items
  }

  /// Returns the caller's user record name. A server-to-server key has one too.
  ///
  /// - Throws: `AUTHENTICATION_REQUIRED` for an anonymous caller.
  func user() throws(ServiceError) -> String {
    guard let name = caller.userRecordName else {
      throw .signInNeeded(for: path.operation)
    }
    return name
  }

  /// Returns the scope of the database in the request's path.
  ///
  /// - Throws: `BAD_REQUEST` if the path names no database.
  func scope() throws(ServiceError) -> DatabaseScope {
    guard let scope = path.scope else {
      throw ServiceError(.badRequest, "\(path.operation) needs a database in its path")
    }
    return scope
  }

  /// Returns the address of the database that the request is for. The owner of a private or shared
  /// database is the caller.
  ///
  /// - Throws: `BAD_REQUEST` if the path names no database; `AUTHENTICATION_REQUIRED` if an
  ///   anonymous caller asks for a database other than the public one.
  func address() throws(ServiceError) -> DatabaseAddress {
    let scope = try scope()
    return DatabaseAddress(
      container: path.container, environment: path.environment, scope: scope,
      owner: scope == .public ? nil : try user())
  }

  /// Returns the rules for reading and writing messages of this request.
  ///
  /// Owner names are relative to the caller: in a message, the name "current owner" means the
  /// caller. For an anonymous caller they are written in full.
  ///
  /// - Parameter numbersAsStrings: whether the answer writes numbers as strings, for JavaScript's
  ///   53-bit numbers.
  package func messageContext(numbersAsStrings: Bool = false) -> MessageContext {
    MessageContext(
      ownerNaming: caller.userRecordName.map { .relative(to: $0) } ?? .explicit,
      numbersAsStrings: numbersAsStrings, writesImplied: true)
  }

  /// Returns the origin of the request's changes: the user, the device and the identifier of the
  /// request.
  ///
  /// The device is nil if the container's setting lets the changing device get its own pushes.
  ///
  /// - Throws: `AUTHENTICATION_REQUIRED` for an anonymous caller.
  func origin() throws(ServiceError) -> ChangeOrigin {
    ChangeOrigin(
      userRecordName: try user(), deviceID: excludesOriginDevice ? deviceID : nil, request: uuid)
  }
}

extension RequestContext {
  /// Creates the context of an operator's request. The operator has all permissions.
  ///
  /// - Parameters:
  ///   - userRecordName: the user whose name the changes bear.
  ///   - operation: the operation's name, such as `records/modify`.
  ///   - address: the database that the request is for.
  ///   - uuid: the identifier of the request in the log.
  ///   - body: the body in the form of the protocol.
  ///   - now: the time of the request.
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
