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
  package var path: ServicePath
  /// The caller, with the API token, the signature and the next web auth token of the request.
  var credentials: Credentials
  /// The identifier of the request in the log. The notification IDs of its changes begin with it.
  var uuid = RequestUUID()
  /// The client's name for its device, from the query parameter `clientId`; nil if the request has
  /// none.
  var deviceID: String?
  /// Whether the answer names the caller by `ZoneID.currentOwnerName`, as the query parameter
  /// `callerName` asks.
  var namesCallerByDefault = false
  /// Whether a device gets no push for its own changes, by the container's settings.
  var excludesOriginDevice: Bool
  /// Whether the server refuses subscriptions of equal content, by the container's settings.
  var refusesEqualSubscriptions: Bool
  var body: Data
  /// The time of the request, by the server's clock. All changes of the request have this time.
  var now: Timestamp
  /// The number of bytes that the database may use; nil if there is no quota.
  var databaseQuota: Int64?

  package var caller: Caller { credentials.caller }

  var pace = AnswerPace()
  /// Receives the errors of the items that failed, for the log and the metrics.
  var report: @Sendable ([ServiceError]) -> Void = { _ in }
  /// Receives the replacements of subscriptions by subscriptions of another type, for the log.
  var reportReplacements: @Sendable ([ReplacedSubscription]) -> Void = { _ in }

  /// Passes the errors of the failed items to ``report``, and returns all items unchanged.
  func reported<Item>(_ items: [Result<Item, FailedItem>]) -> [Result<Item, FailedItem>] {
    let failures = items.compactMap { item in
      if case .failure(let failed) = item { failed.error } else { nil }
    }
    if !failures.isEmpty { report(failures) }
    return items
  }

  /// Returns the caller's user record name. A server-to-server key has one too.
  func user() throws(ServiceError) -> String {
    guard let name = caller.userRecordName else {
      throw .signInNeeded(for: path.operation)
    }
    return name
  }

  /// Returns the scope in the request's path. Throws `BAD_REQUEST` if the path names no database.
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
  /// In a message of a known caller, the caller's own record name stands for the "current owner" of
  /// the model. In a message of an anonymous caller, owner names are the same as in the model.
  ///
  /// - Parameter numbersAsStrings: whether the answer writes numbers as strings, because
  ///   JavaScript's numbers are exact only up to 53 bits.
  package func messageContext(numbersAsStrings: Bool = false) -> MessageContext {
    MessageContext(
      ownerNaming: caller.userRecordName.map { .relative(to: $0) } ?? .explicit,
      numbersAsStrings: numbersAsStrings, writesImplied: true,
      namesCallerByDefault: namesCallerByDefault)
  }

  /// Returns the origin of the request's changes: the user, the device and the identifier of the
  /// request.
  ///
  /// The device is nil if ``excludesOriginDevice`` is false: then the device gets pushes for its
  /// own changes.
  func origin() throws(ServiceError) -> ChangeOrigin {
    var origin = ChangeOrigin(
      userRecordName: try user(), deviceID: excludesOriginDevice ? deviceID : nil, request: uuid)
    origin.isByOperator = caller.isAdministrator
    return origin
  }
}

extension RequestContext {
  /// Creates the context of a request by an operator of the server. The caller is an administrator,
  /// who has all permissions.
  ///
  /// - Parameter userRecordName: the user to whom the changes are attributed.
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
