import CloudKitModel
import Configuration
import HTTPService
import PushChannels
import Storage
import StoreModel
import WebServices

/// The client API: the operations of CloudKit Web Services, the URLs of assets, the web courier, and the
/// pages of the sign-in and of shares. Each is a method that the table of routes names.
///
/// A request for an operation passes the steps of ``steps``, then waits for its turn (``RequestTurns``),
/// and then the handler of the ``Operation`` answers. An error becomes an answer with the error object of
/// the protocol.
///
/// A request that fails before its caller is known counts for its network address.
package final class ClientAPI: Sendable {
  /// The settings of the containers, by identifier. If it is empty, the server serves every
  /// container.
  private let containers: [String: ServerConfiguration.Container]
  private let authenticator: Authenticator
  private let courier: WebCourier
  private let assetTransfers: AssetTransfers
  package let operations: OperationTable
  private let clock: @Sendable () -> Timestamp
  /// The sign-in pages, whose URL a refused caller gets.
  private let signIn: SignIn
  private let sharePages: SharePages
  private let journal: FailureJournal
  private let throttle: ThrottleStep
  /// The steps of a request for an operation, in their order.
  private let steps: [any RequestStep]
  private let turns: RequestTurns
  /// The quotas of databases, and the header field with the client's address.
  private let limits: ServerConfiguration.Limits

  /// Creates the API and all endpoints on a store. The public URL has no slash at the end. The
  /// caller reads the metrics of `turns`.
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
    limits = configuration.limits
    let throttle = ThrottleStep(
      throttle: RequestThrottle(
        rates: configuration.limits.requestRates, sharing: store.sharedLimits),
      addressHeader: configuration.limits.clientAddressHeader, clock: clock)
    self.throttle = throttle
    self.signIn = signIn
    sharePages = SharePages(
      store: store, tokens: webAuthTokens, signIn: signIn, containers: configuration.containers,
      users: throttle.throttle)
    self.turns = turns
    let authenticator = Authenticator(
      store: store.credentials, webAuthTokens: webAuthTokens,
      signatureWindow: configuration.signatureWindow,
      forgottenSignatures: forgottenSignatures, clock: clock)
    self.authenticator = authenticator
    steps = [
      IdentityStep(authenticator: authenticator),
      SignatureStep(authenticator: authenticator),
      throttle,
      AccessStep(),
      SignatureUseStep(store: store.credentials),
    ]
    let links = AssetLinks(store: store.secrets, clock: clock, publicURL: publicURL)
    assetTransfers = AssetTransfers(
      assets: store.assets, databases: store.databases, links: links, clock: clock,
      limits: configuration.limits)
    operations = OperationTable(
      store: store, configuration: configuration, links: links, publicURL: publicURL,
      webPushKey: webPushKey)
  }

  // MARK: Handlers of routes

  package func operation(_ head: HTTPRequest, _ info: RequestInfo) async -> HTTPDecision {
    await decide(head, info) {
      var request = try ClientRequest(head, info, operations: operations, containers: containers)
      do {
        let rest = try await pass(steps[...], &request, hasBody: false)
        return .receive(account: request.credentials?.caller.userRecordName) { [request] in
          await self.finish($0, request, after: rest)
        }
      } catch {
        return .answer(await refusal(of: head, request.info, because: error, request: request))
      }
    }
  }

  package func assets(_ head: HTTPRequest, _ info: RequestInfo) async -> HTTPDecision {
    await decide(head, info, failing: head.method == "POST" ? .upload : .object) {
      switch try await assetTransfers.begin(head) {
      case .answer(let response): return .answer(complete(response, to: head, info))
      case .upload(let upload):
        return .receive(account: upload.userRecordName) { request in
          do {
            let response = try await self.assetTransfers.finish(upload, with: request)
            return self.complete(response, to: request, info)
          } catch {
            return await self.refusal(of: request, info, because: error, as: .upload)
          }
        }
      }
    }
  }

  package func courier(_ head: HTTPRequest, _ info: RequestInfo) async -> HTTPDecision {
    let form: FailureForm = WebCourier.asksForEvents(head) ? .object : .text
    // A task keeps the memory of its deepest call until it ends, and thousands of polls wait at once.
    // So what comes before the wait has a task of its own.
    return await Task { [self] in
      await decide(head, info, failing: form) {
        // A HEAD request would consume a notification without delivering it.
        try WrongMethod.check(head.method, of: "the web courier", allowed: ["GET"])
        let call = try courier.call(of: head)
        return .receive { request in
          do {
            let answer =
              call.isStream
              ? try await self.courier.stream(call)
              : try await self.courier.poll(call.token, after: call.last)
            return self.complete(answer, to: request, info)
          } catch {
            return await self.refusal(of: request, info, because: error, as: form)
          }
        }
      }
    }.value
  }

  package func signInPage(_ head: HTTPRequest, _ info: RequestInfo) -> HTTPDecision {
    .receive { [signIn] in await signIn.respond(to: $0) }
  }

  package func sharePage(_ head: HTTPRequest, _ info: RequestInfo) -> HTTPDecision {
    .receive { [sharePages] in await sharePages.respond(to: $0) }
  }

  // MARK: Operations

  /// Lets a request pass the steps, until one awaits the body.
  ///
  /// - Parameter request: changed by each step, also before one that fails, so that the log names the
  ///   caller of a later failure.
  /// - Returns: the steps that are left.
  private func pass(
    _ steps: ArraySlice<any RequestStep>, _ request: inout ClientRequest, hasBody: Bool
  ) async throws -> ArraySlice<any RequestStep> {
    for index in steps.indices {
      if !hasBody, steps[index].awaitsBody(of: request) { return steps[index...] }
      try await steps[index].pass(&request)
    }
    return []
  }

  private func finish(
    _ http: HTTPRequest, _ begun: ClientRequest, after steps: ArraySlice<any RequestStep>
  ) async -> HTTPResponse {
    var request = begun
    request.http = http
    do {
      _ = try await pass(steps, &request, hasBody: true)
      return complete(
        try await answer(request), to: http, request.info, request.credentials)
    } catch {
      return await refusal(of: http, request.info, because: error, request: request)
    }
  }

  /// Lets the operation answer when the turn of the request comes.
  private func answer(_ request: ClientRequest) async throws -> HTTPResponse {
    guard let credentials = request.credentials, let key = request.turnKey else {
      throw ServiceError(.internalError, "the request has not passed all steps")
    }
    let context = try context(of: request, credentials)
    let operation = request.operation
    let answer = try await turns.take(
      for: key, operation.name, bytes: request.http.body.count
    ) { try await operation.respond(context) }
    try await context.pace.wait()
    return HTTPResponse(json: answer)
  }

  // Not inlined: otherwise the copies that this method makes would occupy memory in the task of the
  // request while the request waits.
  @inline(never)
  private func context(
    of request: ClientRequest, _ credentials: Credentials
  ) throws(ServiceError) -> RequestContext {
    let path = request.path
    let container = containers[path.container] ?? ServerConfiguration.Container()
    var context = RequestContext(
      path: path, credentials: credentials,
      deviceID: try request.http.plainQuery("clientId"),
      excludesOriginDevice: container.excludesOriginDevice,
      refusesEqualSubscriptions: container.refusesEqualSubscriptions,
      body: request.http.body, now: clock())
    context.namesCallerByDefault = try request.http.namesCallerByDefault()
    context.databaseQuota = path.scope.flatMap { limits.bytes(of: $0) }
    let (http, info) = (request.http, request.info)
    context.uuid = info.uuid
    context.report = { [journal] in journal.note($0, of: http, info, by: credentials.caller) }
    context.reportReplacements = { [journal] in
      journal.note($0, of: http, info, by: credentials.caller)
    }
    return context
  }

  // MARK: All routes for programs

  /// Decides about a request from any page: answers a preflight request, and checks the coding of the
  /// body of any other. An error of the handler becomes an answer.
  private func decide(
    _ head: HTTPRequest, _ info: RequestInfo, failing form: FailureForm = .object,
    _ handler: () async throws -> HTTPDecision
  ) async -> HTTPDecision {
    do {
      if let preflight = try await begin(head, info) { return .answer(preflight) }
      return try await handler()
    } catch {
      return .answer(await refusal(of: head, info, because: error, as: form))
    }
  }

  /// Answers a preflight request, with which a browser asks for permission; returns nil for any other.
  ///
  /// If the page may not use the API token in the query, the answer is the refusal, and the browser does
  /// not send the request itself.
  ///
  /// - Throws: ``OriginRefusal``. `BAD_REQUEST` for a body with a `Content-Encoding` other than
  ///   `identity`, because the server would store the compressed bytes of an asset as its content.
  private func begin(_ head: HTTPRequest, _ info: RequestInfo) async throws -> HTTPResponse? {
    if head.method == "OPTIONS", info.origins == .any {
      // A request of another layout has no token for a container.
      if let path = try? ServicePath(parsing: head.path),
        containers.isEmpty || containers[path.container] != nil
      {
        try await authenticator.checkOrigin(of: head, for: path)
      }
      return complete(CrossOrigin.answer(toPreflight: head), to: head, info)
    }
    if let coding = head.header("Content-Encoding"), !coding.isEmpty,
      coding.lowercased() != "identity"
    {
      throw ServiceError(
        .badRequest,
        "Content-Encoding: '\(coding.prefix(80))' is not supported; send the body without a content encoding"
      )
    }
    return nil
  }

  /// Adds the web auth token for the next request, if there is one, and the header fields of CORS.
  ///
  /// - Parameter pagesMayRead: false if the browser must not show the answer to the page, because
  ///   the API token is not for pages of its origin.
  private func complete(
    _ response: HTTPResponse, to request: HTTPRequest, _ info: RequestInfo,
    _ credentials: Credentials? = nil, pagesMayRead: Bool = true
  ) -> HTTPResponse {
    var response = response
    if let token = credentials?.nextWebAuthToken {
      response.headers.append(("X-Apple-CloudKit-Web-Auth-Token", token))
    }
    if pagesMayRead, info.origins == .any {
      response.headers += CrossOrigin.headers(
        forOrigin: request.header("Origin"), method: request.method)
    }
    return response
  }

  /// The body of the answer about a failure, as the clients of a route read it.
  private enum FailureForm {
    /// The error object of the protocol.
    case object
    /// A line of text, for polls of the web courier: see ``HTTPResponse/putIntoWords(_:)``.
    case text
    /// The error object of an upload.
    case upload
  }

  /// Logs and counts the failure of a request, and returns the answer about the failure.
  ///
  /// A request without a known caller counts for its network address, so the answer may become
  /// `THROTTLED`.
  ///
  /// - Parameter request: what is known of a request for an operation.
  private func refusal(
    of http: HTTPRequest, _ info: RequestInfo, because cause: any Error,
    as form: FailureForm = .object, request: ClientRequest? = nil
  ) async -> HTTPResponse {
    let credentials = request?.credentials
    let error = await offeringSignIn(cause, http, request)
    var failure = form == .text ? ServiceError(ofPoll: error) : ServiceError(any: error)
    if credentials == nil {
      do {
        try await throttle.admitUnknownCaller(of: http)
      } catch {
        // If the request was not counted, the answer must not say whether the token was right.
        failure = ServiceError(any: error)
      }
    }
    var response = journal.refusal(
      failure, of: http, info, by: credentials?.caller, because: error)
    switch form {
    case .object: break
    case .text: response.putIntoWords(failure)
    case .upload: response.body = .data(failure.uploadBody)
    }
    return complete(
      response, to: http, info, credentials, pagesMayRead: !(error is OriginRefusal))
  }

  /// Adds the URL of the sign-in page to an `AUTHENTICATION_REQUIRED` error without one. The end of a
  /// session becomes such an error. Other errors stay as they are.
  private func offeringSignIn(
    _ error: any Error, _ http: HTTPRequest, _ request: ClientRequest?
  ) async -> any Error {
    guard let request else { return error }
    var offer: ServiceError
    let credentials: Credentials
    if let end = error as? SessionEnd {
      offer = ServiceError(.authenticationRequired, end.reason)
      credentials = end.credentials
    } else if let error = error as? ServiceError, let known = request.credentials,
      error.code == .authenticationRequired, error.redirectURL == nil
    {
      offer = error
      credentials = known
    } else {
      return error
    }
    do {
      offer.redirectURL = try await signIn.url(for: http, to: request.path, with: credentials)
      return offer
    } catch {
      return error
    }
  }
}
