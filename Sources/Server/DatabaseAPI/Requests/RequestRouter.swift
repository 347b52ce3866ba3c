import CloudKitModel
import Configuration
import Foundation
import HTTPService
import PushChannels
import Storage
import StoreModel
import WebServices

/// The entry point of the client protocol, which answers each HTTP request. An error becomes an
/// answer with the error object of the protocol.
///
/// A request of the protocol passes these steps, in this order:
///
/// 1. The path, the operation, the method and the container are checked.
/// 2. ``Authenticator`` identifies the caller.
/// 3. ``RequestThrottle`` counts the request for the caller and the API token, and refuses it above
///    their rates.
/// 4. `AccessPolicy` decides whether the caller may call the operation.
/// 5. The store marks the signature of a server-to-server key as used, except for `records/modify`
///    and for operations that only read.
/// 6. ``RequestTurns`` lets the request wait for its turn.
/// 7. The handler of the ``Operation`` answers.
///
/// The steps before the handler need only the head of the request, so they run before the server
/// receives a large body. The exception is a signature, which covers the body: at the head step 2
/// checks only its key and date, and the steps 2 to 4 follow when the body is there.
///
/// A request that fails before step 2 has identified the caller counts for its network address.
/// Requests for the sign-in pages, the pages of shares and the asset URLs do not pass these steps, and neither do
/// preflight requests. A preflight request is the `OPTIONS` request with which a browser asks for
/// permission.
package final class RequestRouter: Sendable {
  /// The settings of the containers, by identifier. If it is empty, the server serves every
  /// container.
  let containers: [String: ServerConfiguration.Container]
  /// The check of credentials.
  let authenticator: Authenticator
  /// The used signatures of server-to-server keys.
  let signatures: CredentialService
  /// The web courier, whose requests ``CourierRequest`` answers through this router.
  let courier: WebCourier
  /// The upload and download of the bytes of assets.
  let assetTransfers: AssetTransfers
  /// The operations of all endpoints.
  package let operations: OperationTable
  let clock: @Sendable () -> Timestamp
  /// The sign-in pages, whose URL a refused caller gets.
  let signIn: SignIn
  /// The pages of the links of shares.
  private let sharePages: SharePages
  /// The log lines and the metrics of failures.
  let journal: FailureJournal
  /// The request rates of callers.
  let throttle: RequestThrottle
  /// The queue in which requests of the protocol wait before their handlers begin.
  let turns: RequestTurns
  /// The quotas of databases, and the header field with the client's address.
  let limits: ServerConfiguration.Limits

  /// Creates the router and all endpoints on a store.
  ///
  /// - Parameters:
  ///   - publicURL: the URL at which clients reach the server, without a slash at the end.
  ///   - webPushKey: the server's key pair for Web Push; nil if the server has none.
  ///   - turns: the queue of requests. The code that creates the router reads the metrics of the
  ///     queue.
  ///   - forgottenSignatures: the record of clock changes that ``ServerKeyVerifier`` consults.
  package init(
    store: Store, configuration: ServerConfiguration, courier: WebCourier,
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
    sharePages = SharePages(
      store: store, tokens: webAuthTokens, signIn: signIn, containers: configuration.containers,
      users: throttle)
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

  /// Decides about a request by its head, except one for the web courier's path, which a
  /// ``CourierRequest`` answers.
  ///
  /// The steps that need no body run here, once for each request. The decision has the other steps.
  /// Each failure becomes an answer. Each answer except those of pages for people has the
  /// identifier of the request in the header field ``uuidHeader``.
  package func examine(_ head: HTTPRequest) async -> HTTPDecision {
    if SignIn.isPath(head.path) { return .receive { [signIn] in await signIn.respond(to: $0) } }
    if SharePages.isPath(head.path) {
      return .receive { [sharePages] in await sharePages.respond(to: $0) }
    }
    let uuid = RequestUUID()
    var credentials: Credentials?
    do {
      switch try await begin(head, credentials: &credentials) {
      case .answer(let response):
        return .answer(marked(complete(response, to: head, credentials: credentials), uuid))
      case .upload(let upload):
        return .receive(account: upload.userRecordName) { [self] request in
          await answer(request, called: uuid, by: nil) { _ in
            try await assetTransfers.finish(upload, with: request)
          }
        }
      case .operation(let begun):
        return .receive(account: credentials?.caller.userRecordName) {
          [self, credentials] request in
          await answer(request, called: uuid, by: credentials) { known in
            try await finish(begun, with: request, called: uuid, credentials: &known)
          }
        }
      }
    } catch {
      let response = await refusal(
        of: head, called: uuid, because: error, credentials: credentials)
      return .answer(marked(response, uuid))
    }
  }

  /// Answers a request by the steps that follow those for its head.
  ///
  /// - Parameter credentials: the credentials that the head proves; nil if there are none. `steps`
  ///   sets them as soon as the caller is known.
  private func answer(
    _ request: HTTPRequest, called uuid: RequestUUID, by credentials: Credentials?,
    _ steps: (inout Credentials?) async throws -> HTTPResponse
  ) async -> HTTPResponse {
    var credentials = credentials
    do {
      let response = try await steps(&credentials)
      return marked(complete(response, to: request, credentials: credentials), uuid)
    } catch {
      let response = await refusal(
        of: request, called: uuid, because: error, credentials: credentials)
      return marked(response, uuid)
    }
  }

  /// Returns an answer with the identifier of its request.
  private func marked(_ response: HTTPResponse, _ uuid: RequestUUID) -> HTTPResponse {
    var response = response
    response.headers.append((Self.uuidHeader, "\(uuid)"))
    return response
  }

  /// The header field of an answer with the identifier of the request in the log.
  package static let uuidHeader = "X-Apple-Request-UUID"

  /// Returns the answer to a request for the web courier's path; nil if no notification has come
  /// yet. After nil, call ``WebCourier/Look/wait()`` of ``CourierRequest/look``, then call this
  /// method again.
  func courierAnswer(to request: CourierRequest) async -> HTTPResponse? {
    do {
      if request.http.method == "OPTIONS" {
        return complete(try await answer(toPreflight: request.http), to: request.http)
      }
      try Self.checkCoding(of: request.http)
      // A HEAD request would consume a notification without delivering it.
      try WrongMethod.check(request.http.method, of: "the web courier", allowed: ["GET"])
      return try await courier.answer(to: request).map { complete($0, to: request.http) }
    } catch {
      return await refusal(of: request.http, because: error)
    }
  }

  /// Deletes the answer to a reader that was kept and could not be sent. A failure is logged only: the
  /// reader then misses the notification.
  func withdrawCourierAnswer(
    _ entry: LogEntry, forToken token: String, of request: CourierRequest
  ) async {
    do {
      try await courier.store.withdrawCourierAnswer(entry, forToken: token)
    } catch {
      _ = await refusal(of: request.http, because: error)
    }
  }

  /// Logs and counts the failure of a request, and returns the answer about the failure.
  ///
  /// The body has the form that the client of this path reads: plain text for a poll of the web
  /// courier, and an upload error for an asset upload. A request without a known caller counts for
  /// its network address, so the answer may become `THROTTLED`.
  private func refusal(
    of request: HTTPRequest, called uuid: RequestUUID? = nil, because error: any Error,
    credentials: Credentials? = nil
  ) async -> HTTPResponse {
    var failure =
      WebCourier.isPoll(request) ? ServiceError(ofPoll: error) : ServiceError(any: error)
    if credentials == nil { failure = await unknownCallersFailure(failure, of: request) }
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

  /// Adds the web auth token for the next request, if there is one, and the header fields of CORS.
  ///
  /// - Parameter pagesMayRead: false if the browser must not show the answer to the page, because
  ///   the API token is not for pages of its origin.
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

  /// Answers a preflight request. If the page may not use the API token in the query, the answer is
  /// the refusal, and the browser does not send the request itself.
  func answer(toPreflight request: HTTPRequest) async throws -> HTTPResponse {
    if let path = try? ServicePath(parsing: request.path), isServed(path.container) {
      try await authenticator.checkOrigin(of: request, for: path)
    }
    return CrossOrigin.answer(toPreflight: request)
  }

  /// Whether the server serves a container. With no containers in the configuration it serves all.
  func isServed(_ container: String) -> Bool {
    containers.isEmpty || containers[container] != nil
  }

  /// Checks that the body is not compressed. The server would store the compressed bytes of an
  /// asset as its content.
  ///
  /// - Throws: `BAD_REQUEST` for a `Content-Encoding` other than `identity`.
  static func checkCoding(of request: HTTPRequest) throws(ServiceError) {
    guard let coding = request.header("Content-Encoding"), !coding.isEmpty,
      coding.lowercased() != "identity"
    else { return }
    throw ServiceError(
      .badRequest,
      "Content-Encoding: '\(coding.prefix(80))' is not supported; send the body without a content encoding"
    )
  }

  /// Counts the failed request of an unknown caller for its network address, so that nobody can try
  /// tokens without a limit.
  ///
  /// - Returns: the failure; `THROTTLED` if the address has used up its rate; the error of the
  ///   store if it cannot count the request.
  private func unknownCallersFailure(
    _ failure: ServiceError, of request: HTTPRequest
  ) async -> ServiceError {
    do {
      try await throttle.admit([address(of: request)], at: clock())
      return failure
    } catch {
      // If the request was not counted, the answer must not say whether the token was right.
      return ServiceError(any: error)
    }
  }

  /// Returns the key under which requests from the network address of this request count.
  private func address(of request: HTTPRequest) -> RequestThrottle.Key {
    RequestThrottle.Key(
      subject: .address,
      name: ClientAddress.network(of: request, header: limits.clientAddressHeader))
  }

  /// Returns the keys under which a request counts: the caller first, then the API token if there
  /// is one.
  ///
  /// The key of an anonymous caller is the network address.
  func countedKeys(
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
}
