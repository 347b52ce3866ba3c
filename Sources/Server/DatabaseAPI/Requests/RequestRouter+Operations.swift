import CloudKitModel
import Configuration
import HTTPService
import StoreModel
import WebServices

extension RequestRouter {
  /// The result of the steps for a request's head.
  enum Step {
    /// The whole answer: the request needs no body.
    case answer(HTTPResponse)
    /// An upload, which needs its bytes.
    case upload(AssetTransfers.Upload)
    /// A request of the protocol, which needs its body.
    case operation(BegunOperation)
  }

  /// A request of the protocol after the steps for its head.
  struct BegunOperation: Sendable {
    /// The caller as far as the head proves it.
    enum Caller: Sendable {
      /// The caller is known, and the request counts under this key.
      case admitted(Credentials, RequestThrottle.Key)
      /// The request is signed. The signature covers the body.
      case signed(SignedRequest, CredentialDirectory.Entry)
    }

    var path: ServicePath
    var operation: Operation
    var caller: Caller
  }

  /// Does the steps for the head of a preflight request, a request for an asset URL or a request of
  /// the protocol.
  ///
  /// - Parameter credentials: set as soon as the caller is known, so that the log names the caller
  ///   of a later failure.
  func begin(
    _ head: HTTPRequest, credentials known: inout Credentials?
  ) async throws -> Step {
    if head.method == "OPTIONS", CrossOrigin.applies(to: head.path) {
      return .answer(try await answer(toPreflight: head))
    }
    try Self.checkCoding(of: head)
    if head.path.hasPrefix(AssetLinks.prefix) {
      switch try await assetTransfers.begin(head) {
      case .answer(let response): return .answer(response)
      case .upload(let upload): return .upload(upload)
      }
    }
    let path = try ServicePath(parsing: head.path)
    let operation = try operations.operation(named: path.operation)
    try WrongMethod.check(head.method, of: operation.name, allowed: operation.methods)
    guard isServed(path.container) else {
      throw ServiceError(.badContainer, "container '\(path.container)' is not served here")
    }
    switch try await identity(of: head, for: path) {
    case .proven(let credentials):
      known = credentials
      let key = try await admit(head, path, operation, credentials)
      return .operation(
        .init(path: path, operation: operation, caller: .admitted(credentials, key)))
    case .signed(let signed, let keys):
      return .operation(.init(path: path, operation: operation, caller: .signed(signed, keys)))
    }
  }

  /// Counts the request of a known caller, and checks that the caller may call the operation.
  ///
  /// - Returns: the key of the caller.
  /// - Throws: `THROTTLED`, or the refusal of `AccessPolicy`.
  private func admit(
    _ request: HTTPRequest, _ path: ServicePath, _ operation: Operation,
    _ credentials: Credentials
  ) async throws -> RequestThrottle.Key {
    let keys = countedKeys(of: request, with: credentials)
    try await throttle.admit(keys, at: clock())
    if let refusal = AccessPolicy.refusal(
      of: credentials.caller, calling: operation, in: path.scope)
    {
      throw try await offeringSignIn(refusal, request, path, credentials)
    }
    // The second key, if any, is that of the API token.
    return keys[0]
  }

  /// Answers a request of the protocol, in the steps of ``RequestRouter`` that follow those for the
  /// head.
  ///
  /// - Parameter known: set to the credentials as soon as the caller is known.
  func finish(
    _ begun: BegunOperation, with request: HTTPRequest, called uuid: RequestUUID,
    credentials known: inout Credentials?
  ) async throws -> HTTPResponse {
    let (path, operation) = (begun.path, begun.operation)
    let credentials: Credentials
    let key: RequestThrottle.Key
    switch begun.caller {
    case .admitted(let proven, let counted): (credentials, key) = (proven, counted)
    case .signed(let signed, let keys):
      credentials = try authenticator.credentials(
        of: (signed, keys), request, for: path, onlyReads: operation.effect == .reads)
      known = credentials
      key = try await admit(request, path, operation, credentials)
    }
    if operation.name != RecordsEndpoint.modifyName {
      try await credentials.signature?.spend(in: signatures)
    }
    var context = try context(of: request, called: uuid, path, credentials)
    if SharesEndpoint.operationNames.contains(operation.name) { context.pace = AnswerPace() }
    do {
      let answer = try await turns.take(
        for: key, operation.name, bytes: request.body.count
      ) { [context] in try await operation.respond(context) }
      try await context.pace?.wait()
      return HTTPResponse(json: answer)
    } catch let error as ServiceError {
      throw try await offeringSignIn(error, request, path, credentials)
    }
  }

  // Not inlined: otherwise the copies that this method makes would occupy memory in the task of the
  // request while the request waits.
  @inline(never)
  private func context(
    of request: HTTPRequest, called uuid: RequestUUID, _ path: ServicePath,
    _ credentials: Credentials
  ) throws(ServiceError) -> RequestContext {
    let container = containers[path.container] ?? ServerConfiguration.Container()
    var context = RequestContext(
      path: path, credentials: credentials,
      deviceID: try request.plainQuery("clientId"),
      excludesOriginDevice: container.excludesOriginDevice,
      refusesEqualSubscriptions: container.refusesEqualSubscriptions,
      body: request.body, now: clock())
    context.namesCallerByDefault = try request.namesCallerByDefault()
    context.databaseQuota = path.scope.flatMap { limits.bytes(of: $0) }
    context.uuid = uuid
    context.report = { [journal] in
      journal.note($0, of: request, called: uuid, by: credentials.caller)
    }
    context.reportReplacements = { [journal] in
      journal.note($0, of: request, called: uuid, by: credentials.caller)
    }
    return context
  }

  /// Returns an `AUTHENTICATION_REQUIRED` error with the URL of the sign-in page. An error of
  /// another code, or with a URL, is returned unchanged.
  private func offeringSignIn(
    _ error: ServiceError, _ request: HTTPRequest, _ path: ServicePath, _ credentials: Credentials
  ) async throws -> ServiceError {
    guard error.code == .authenticationRequired, error.redirectURL == nil else { return error }
    var error = error
    error.redirectURL = try await signIn.url(for: request, to: path, with: credentials)
    return error
  }

  /// Returns the identity that the head of a request claims.
  ///
  /// - Throws: the errors of ``Authenticator``. A ``SessionEnd`` becomes `AUTHENTICATION_REQUIRED`
  ///   with the URL of the sign-in page.
  private func identity(
    of head: HTTPRequest, for path: ServicePath
  ) async throws -> Authenticator.Identity {
    do {
      return try await authenticator.identity(of: head, for: path)
    } catch let end as SessionEnd {
      throw ServiceError(
        .authenticationRequired, end.reason,
        redirectURL: try await signIn.url(for: head, to: path, with: end.credentials))
    }
  }
}
