import CloudKitModel
import Configuration
import HTTPService
import WebServices

/// A request for an operation of the client API, on its way through the steps (``RequestStep``).
struct ClientRequest: Sendable {
  /// The head of the request, and its body as soon as it is there.
  var http: HTTPRequest
  let info: RequestInfo
  let path: ServicePath
  let operation: Operation
  /// The signature, until the body has proved it.
  var signature: (signed: SignedRequest, keys: CredentialDirectory.Entry)?
  /// The caller, as soon as it is known.
  var credentials: Credentials?
  /// The key under which the request takes its turn (``RequestTurns``).
  var turnKey: RequestThrottle.Key?

  /// - Throws: `NOT_FOUND` for another layout of the path, and for an unknown operation. `BAD_REQUEST`
  ///   for a wrong part of the path. `BAD_CONTAINER` for a container that is not served. ``WrongMethod``.
  init(
    _ head: HTTPRequest, _ info: RequestInfo, operations: OperationTable,
    containers: [String: ServerConfiguration.Container]
  ) throws {
    path = try ServicePath(parsing: head.path)
    operation = try operations.operation(named: path.operation)
    try WrongMethod.check(head.method, of: operation.name, allowed: operation.methods)
    // With no containers in the configuration, the server serves all.
    guard containers.isEmpty || containers[path.container] != nil else {
      throw ServiceError(.badContainer, "container '\(path.container)' is not served here")
    }
    http = head
    var info = info
    info.isOfParticipant = path.scope == .shared || operation.isOfParticipants
    self.info = info
  }
}
