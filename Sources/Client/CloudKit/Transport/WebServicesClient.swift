internal import CloudKitModel
internal import WebServices

/// A call of CloudKit Web Services, before it is known who makes it.
struct ServiceCall: Sendable {
  /// Such as `records/modify`.
  var operation: String
  /// Nil for `tokens/…`.
  var scope: DatabaseScope?
  /// The body of a POST; nil makes it a GET.
  var body: Data?
  /// The bytes to move instead of making a call.
  var transfer: Transfer?
  /// Takes the answer in the place of the operation's own ``CKOperation/receive(_:)``, for a step
  /// that several operations have in common. Called on the operation's queue.
  var receiver: Receiver?

  typealias Receiver =
    @Sendable (Result<ServiceExchange.Answer, CKError>) throws(CKError) -> ServiceCall?

  /// The bytes of an asset on their way.
  struct Transfer: Sendable {
    var direction: AssetTransfer.Direction
    /// As the server gave it.
    var url: URL
    /// Called on the operation's queue with the number of bytes that are moved so far. They begin
    /// anew with another attempt. An error that it answers ends the transfer.
    var progress: @Sendable (Int64) -> CKError?
  }
}

extension ServiceCall {
  init(_ transfer: Transfer, receiver: @escaping Receiver) {
    operation = "asset"
    self.transfer = transfer
    self.receiver = receiver
  }
}

/// One user's and device's view of a container: puts the credentials into each request.
final class WebServicesClient: Sendable {
  let containerIdentifier: String
  let configuration: PetrelConfiguration
  let transport: any WebServicesTransport
  private let stored: StoredSession?
  private let session: Locked<StoredSession.Content?>
  private let account = Locked(AccountObservation())

  /// - Parameters:
  ///   - transport: what requests go through; nil means HTTP.
  ///   - keepsSession: whether the web auth tokens that the server gives are kept on disk.
  /// - Throws: `badContainer` when the configuration or the identifier is no good.
  init(
    containerIdentifier: String, configuration: PetrelConfiguration,
    transport: (any WebServicesTransport)?, keepsSession: Bool
  ) throws(CKError) {
    try PetrelConfiguration.check(
      containerIdentifier: containerIdentifier, place: "CKContainer(identifier:)")
    try PetrelConfiguration.check(
      serverURL: configuration.serverURL, place: "PetrelConfiguration")
    self.containerIdentifier = containerIdentifier
    self.configuration = configuration
    self.transport = transport ?? Self.transport(to: configuration.serverURL)
    stored = keepsSession ? StoredSession(configuration) : nil
    session = Locked(
      stored?.content() ?? configuration.webAuthToken.map { StoredSession.Content($0) })
  }

  private static func transport(to serverURL: URL) -> any WebServicesTransport {
    #if os(Linux)
    CurlTransport(serverURL: serverURL)
    #else
    URLSessionTransport(serverURL: serverURL)
    #endif
  }

  func request(for call: ServiceCall, timeout: TimeInterval) -> TransportRequest {
    let path = ServicePath(
      container: containerIdentifier, environment: configuration.environment.model,
      scope: call.scope, operation: call.operation)
    var query: [TransportRequest.QueryItem] = []
    if let apiToken = configuration.apiToken { query.append(.init("ckAPIToken", apiToken)) }
    if let token = webAuthToken { query.append(.init(TransportRequest.webAuthTokenName, token)) }
    query.append(.init("clientId", configuration.deviceID))
    return TransportRequest(
      method: call.body == nil ? .get : .post, target: .path(path.description, query: query),
      body: call.body, timeout: timeout)
  }

  /// Keeps what an answer says for later requests: the web auth token that follows the one that was
  /// sent (CloudKit Web Services, "Authenticating users"), unless another has taken that one's place
  /// meanwhile. Posts `CKAccountChanged` when the answer shows that there is an account now and was
  /// none before, or the reverse. It may write to the disk.
  ///
  /// - Parameter sent: the token that the request bore.
  func note(_ response: TransportResponse, toRequestWith sent: String?) {
    if let event = AccountObservation.Event(response, hasToken: webAuthToken != nil),
      account.withLock({ $0.handle(event) })
    {
      NotificationCenter.default.post(name: .CKAccountChanged, object: nil)
    }
    guard let next = response.headers["x-apple-cloudkit-web-auth-token"], !next.isEmpty else {
      return
    }
    let changed = session.withLock { session -> StoredSession.Content? in
      guard sent != next, session?.newest == sent else { return nil }
      var changed = session ?? StoredSession.Content(next)
      changed.newest = next
      session = changed
      return changed
    }
    guard let changed else { return }
    do {
      try stored?.keep(changed)
    } catch {
      PetrelConfiguration.warn(
        "the web auth token cannot be kept, so that the user is signed out at the next launch: "
          + error.localizedDescription)
    }
  }

  /// The token of the next request.
  var webAuthToken: String? { session.withLock { $0?.newest } }

  func setWebAuthToken(_ token: String?) throws(CKError) {
    let content = token.map { StoredSession.Content($0) }
    session.withLock { $0 = content }
    try stored?.keep(content)
  }

  /// Those of the user who is signed in.
  var longLivedOperations: LongLivedOperationStore {
    LongLivedOperationStore(
      containerIdentifier: containerIdentifier, configuration: configuration,
      firstToken: session.withLock { $0?.first })
  }
}

extension PetrelConfiguration.Environment {
  var model: ContainerEnvironment {
    switch self {
    case .development: .development
    case .production: .production
    }
  }
}

extension MessageContext {
  /// How zones' owners are named in the messages of a database: in the shared database the names
  /// tell whose zone it is, in the others there is only one owner.
  static func client(of scope: DatabaseScope) -> MessageContext {
    MessageContext(ownerNaming: scope == .shared ? .explicit : .implied)
  }
}
