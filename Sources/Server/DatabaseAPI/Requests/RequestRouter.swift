import CloudKitModel
import Configuration
import Foundation
import HTTPService
import PushChannels
import StoreModel
import WebServices

/// Finds the endpoint for a request and puts whatever goes wrong into the protocol's form.
package final class RequestRouter: Sendable {
  private let containers: [String: ServerConfiguration.Container]
  private let authenticator: Authenticator
  private let signatures: any SignatureStore
  let courier: WebCourier
  private let assetTransfers: AssetTransfers
  package let operations: OperationTable
  private let clock: @Sendable () -> Timestamp
  private let signIn: SignIn
  private let journal: FailureJournal
  private let throttle: RequestThrottle
  private let turns: RequestTurns
  private let limits: ServerConfiguration.Limits

  package init(
    store: any Store, configuration: ServerConfiguration, courier: WebCourier,
    webAuthTokens: WebAuthTokens, journal: FailureJournal,
    clock: @escaping @Sendable () -> Timestamp,
    publicURL: @escaping @Sendable () -> String, signIn: SignIn, webPushKey: WebPushKey?,
    turns: RequestTurns, forgottenSignatures: ForgottenSignatures
  ) {
    containers = configuration.containers
    self.courier = courier
    self.clock = clock
    self.journal = journal
    throttle = RequestThrottle(
      rates: configuration.limits.requestRates, sharing: store.sharedLimits)
    limits = configuration.limits
    signatures = store.credentials
    self.signIn = signIn
    self.turns = turns
    authenticator = Authenticator(
      store: store.credentials, webAuthTokens: webAuthTokens,
      signatureWindow: configuration.signatureWindow,
      forgottenSignatures: forgottenSignatures, clock: clock)
    let links = AssetLinks(store: store.secrets, clock: clock, publicURL: publicURL)
    assetTransfers = AssetTransfers(
      assets: store.assets, databases: store.databases, links: links, clock: clock,
      limits: configuration.limits)
    operations = OperationTable(
      store: store, configuration: configuration, links: links, publicURL: publicURL,
      webPushKey: webPushKey)
  }

  package func respond(to request: HTTPRequest) async -> HTTPResponse {
    if SignIn.isPath(request.path) { return await signIn.respond(to: request) }
    let uuid = RequestUUID()
    var credentials: Credentials?
    var response: HTTPResponse
    do {
      response = complete(
        try await answer(to: request, called: uuid, credentials: &credentials), to: request,
        credentials: credentials)
    } catch {
      response = await refusal(
        of: request, called: uuid, because: error, credentials: credentials)
    }
    response.headers.append((Self.uuidHeader, "\(uuid)"))
    return response
  }

  /// The header field that tells what a request is called in the log.
  package static let uuidHeader = "X-Apple-Request-UUID"

  /// The answer to a request for the web courier's path; nil when it has to be waited for.
  func courierAnswer(to request: CourierRequest) async -> HTTPResponse? {
    do {
      if request.http.method == "OPTIONS" {
        return complete(try await answer(toPreflight: request.http), to: request.http)
      }
      try Self.checkCoding(of: request.http)
      // A HEAD would use up a notification that it does not deliver.
      try WrongMethod.check(request.http.method, of: "the web courier", allowed: ["GET"])
      return try await courier.answer(to: request).map { complete($0, to: request.http) }
    } catch {
      return await refusal(of: request.http, because: error)
    }
  }

  /// Has the reader's next poll acknowledge what it is about to be given; the answer when that cannot be.
  func keepCourierAnswer(of request: CourierRequest) async -> HTTPResponse? {
    do {
      try await courier.remember(request.look)
      return nil
    } catch {
      return await refusal(of: request.http, because: error)
    }
  }

  /// Has what was kept for a reader that has left come again.
  func withdrawCourierAnswer(of request: CourierRequest) async {
    do {
      try await courier.forget(request.look)
    } catch {
      _ = await refusal(of: request.http, because: error)
    }
  }

  private func refusal(
    of request: HTTPRequest, called uuid: RequestUUID? = nil, because error: any Error,
    credentials: Credentials? = nil
  ) async -> HTTPResponse {
    var failure = ServiceError(any: error)
    if credentials == nil { failure = await strangersFailure(failure, of: request) }
    var response = (error as? WrongMethod)?.response(failure) ?? HTTPResponse(failure)
    if WebCourier.isPoll(request) {
      response.putIntoWords(failure)
    } else if AssetLinks.isUpload(method: request.method, path: request.path) {
      response.body = .data(failure.uploadBody)
    }
    journal.note(
      failure, status: response.status, of: request, called: uuid,
      operation: operations.metricsName(ofPath: request.rawPath), by: credentials?.caller,
      cause: error)
    return complete(
      response, to: request, credentials: credentials, pagesMayRead: !(error is OriginRefusal))
  }

  /// Adds the header fields that any answer may bear.
  private func complete(
    _ response: HTTPResponse, to request: HTTPRequest, credentials: Credentials? = nil,
    pagesMayRead: Bool = true
  ) -> HTTPResponse {
    var response = response
    if let token = credentials?.nextWebAuthToken {
      response.headers.append(("X-Apple-CloudKit-Web-Auth-Token", token))
    }
    if pagesMayRead, CrossOrigin.applies(to: request.path) {
      response.headers += CrossOrigin.headers(
        forOrigin: request.header("Origin"), method: request.method)
    }
    return response
  }

  /// A page that may not use the API token in the query is refused already here.
  private func answer(toPreflight request: HTTPRequest) async throws -> HTTPResponse {
    if let path = try? ServicePath(parsing: request.path), isServed(path.container) {
      try await authenticator.checkOrigin(of: request, for: path)
    }
    return CrossOrigin.answer(toPreflight: request)
  }

  private func isServed(_ container: String) -> Bool {
    containers.isEmpty || containers[container] != nil
  }

  /// - Parameter credentials: are set as soon as they are known.
  private func answer(
    to request: HTTPRequest, called uuid: RequestUUID, credentials: inout Credentials?
  ) async throws -> HTTPResponse {
    if request.method == "OPTIONS", CrossOrigin.applies(to: request.path) {
      return try await answer(toPreflight: request)
    }
    try Self.checkCoding(of: request)
    if request.path.hasPrefix(AssetLinks.prefix) {
      return try await assetTransfers.respond(to: request)
    }
    return try await serve(request, called: uuid, credentials: &credentials)
  }

  /// Checks that the body is not compressed: that of an asset would be kept so.
  private static func checkCoding(of request: HTTPRequest) throws(ServiceError) {
    guard let coding = request.header("Content-Encoding"), !coding.isEmpty,
      coding.lowercased() != "identity"
    else { return }
    throw ServiceError(
      .badRequest,
      "Content-Encoding: '\(coding.prefix(80))' is not understood; send the body as it is")
  }

  /// Who cannot show who he is counts by his address, so that nobody can try tokens without end.
  private func strangersFailure(
    _ failure: ServiceError, of request: HTTPRequest
  ) async -> ServiceError {
    do {
      try await throttle.admit([address(of: request)], at: clock())
      return failure
    } catch {
      // Where it cannot be counted nothing is told that could be guessed by.
      return ServiceError(any: error)
    }
  }

  private func address(of request: HTTPRequest) -> RequestThrottle.Key {
    RequestThrottle.Key(
      subject: .address,
      name: ClientAddress.network(of: request, header: limits.clientAddressHeader))
  }

  /// Whose requests this one counts with, the caller first.
  private func countedKeys(
    of request: HTTPRequest, with credentials: Credentials
  ) -> [RequestThrottle.Key] {
    var keys: [RequestThrottle.Key] = []
    switch credentials.caller {
    case .anonymous, .administrator: keys.append(address(of: request))
    case .user(let name): keys.append(.init(subject: .user, name: name))
    case .serverKey(let keyID, _): keys.append(.init(subject: .serverKey, name: keyID))
    }
    if let token = credentials.apiToken {
      keys.append(
        .init(subject: .apiToken, name: token.identifier))
    }
    return keys
  }

  private func serve(
    _ request: HTTPRequest, called uuid: RequestUUID, credentials known: inout Credentials?
  ) async throws -> HTTPResponse {
    let path = try ServicePath(parsing: request.path)
    let operation = try operations.operation(named: path.operation)
    try WrongMethod.check(request.method, of: operation.name, allowed: operation.methods)
    guard isServed(path.container) else {
      throw ServiceError(.badContainer, "container '\(path.container)' is not served here")
    }
    let credentials = try await credentials(of: request, for: path, operation)
    known = credentials
    let keys = countedKeys(of: request, with: credentials)
    try await throttle.admit(keys, at: clock())
    if let refusal = AccessPolicy.refusal(
      of: credentials.caller, calling: operation, in: path.scope)
    {
      throw try await offeringSignIn(refusal, request, path, credentials)
    }
    if operation.name != RecordsEndpoint.modifyName {
      try await credentials.signature?.spend(in: signatures)
    }
    let context = try context(of: request, called: uuid, path, credentials)
    do {
      // The caller comes first, before the API token that he uses.
      let answer = try await turns.take(
        for: keys[0], operation.name, bytes: request.body.count
      ) { try await operation.respond(context) }
      return HTTPResponse(json: answer)
    } catch let error as ServiceError {
      throw try await offeringSignIn(error, request, path, credentials)
    }
  }

  // Not inlined, for what it copies would have its place in the frame of a request for as long as that waits.
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

  /// The error, with the URL of the sign-in page where signing in may help.
  private func offeringSignIn(
    _ error: ServiceError, _ request: HTTPRequest, _ path: ServicePath, _ credentials: Credentials
  ) async throws -> ServiceError {
    guard error.code == .authenticationRequired, error.redirectURL == nil else { return error }
    var error = error
    error.redirectURL = try await signIn.url(for: request, to: path, with: credentials)
    return error
  }

  private func credentials(
    of request: HTTPRequest, for path: ServicePath, _ operation: Operation
  ) async throws -> Credentials {
    do {
      return try await authenticator.credentials(
        of: request, for: path, onlyReads: operation.effect == .reads)
    } catch let end as SessionEnd {
      throw ServiceError(
        .authenticationRequired, end.reason,
        redirectURL: try await signIn.url(for: request, to: path, with: end.credentials))
    }
  }
}
