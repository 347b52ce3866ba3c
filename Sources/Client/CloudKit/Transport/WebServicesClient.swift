internal import CloudKitModel
internal import WebServices

/// A call of CloudKit Web Services, without credentials. ``WebServicesClient`` adds them.
struct ServiceCall: Sendable {
  /// The name in the protocol, such as `records/modify`.
  var operation: String
  /// The scope of the database; nil for `tokens/…`, which name none.
  var scope: DatabaseScope?
  /// The body of a POST; nil makes it a GET.
  var body: Data?
  /// The file to transfer. If it is set, the exchange transfers the file and makes no call.
  var transfer: Transfer?
  /// The receiver of the answer, on the operation's queue. Nil passes the answer to
  /// ``CKOperation/receive(_:)``. A step that several operations have in common, such as an upload,
  /// sets it.
  var receiver: Receiver?

  /// A function that takes the result of a call and returns the next call; nil ends the operation.
  typealias Receiver =
    @Sendable (Result<ServiceExchange.Answer, CKError>) throws(CKError) -> ServiceCall?

  /// The transfer of the bytes of an asset.
  struct Transfer: Sendable {
    var direction: AssetTransfer.Direction
    /// The URL exactly as the server returned it.
    var url: URL
    /// The receiver of progress, called on the operation's queue with the number of bytes
    /// transferred so far. The number starts again with another attempt. An error that the receiver
    /// returns ends the transfer.
    var progress: @Sendable (Int64) -> CKError?
  }
}

extension ServiceCall {
  /// Makes a call that transfers a file.
  init(_ transfer: Transfer, receiver: @escaping Receiver) {
    operation = "asset"
    self.transfer = transfer
    self.receiver = receiver
  }
}

/// A client of the server: the container, the user and the device in whose name it makes requests.
///
/// It adds the credentials to each request. All operations of a container share one client; locks
/// protect what changes.
final class WebServicesClient: Sendable {
  let containerIdentifier: String
  let configuration: PetrelConfiguration
  let transport: any WebServicesTransport
  /// The session on disk; nil if it is not kept.
  private let stored: StoredSession?
  /// The web auth tokens of the user; nil if no user is signed in.
  private let session: Locked<StoredSession.Content?>
  /// The account status that the answers show.
  private let account = Locked(AccountObservation())

  /// Makes a client of a container.
  ///
  /// - Parameters:
  ///   - transport: The transport of the requests; nil means HTTP.
  ///   - keepsSession: Whether the web auth tokens of the server are kept on disk.
  /// - Throws: `badContainer` if the configuration or the identifier is not valid.
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

  /// Returns the transport over HTTP for this platform.
  private static func transport(to serverURL: URL) -> any WebServicesTransport {
    #if os(Linux)
    CurlTransport(serverURL: serverURL)
    #else
    URLSessionTransport(serverURL: serverURL)
    #endif
  }

  /// Returns the request for a call, with the credentials of the user and the device.
  ///
  /// - Parameter timeout: The seconds that the request may take.
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

  /// Notes the information in an answer that concerns later requests.
  ///
  /// The server can answer with the next web auth token (CloudKit Web Services Reference,
  /// "Authenticating users"). The client uses that token from now on, unless another one has
  /// replaced the token that was sent.
  ///
  /// Posts `CKAccountChanged` if the answer shows that an account has appeared or disappeared. The
  /// method can write to the disk. It prints a warning on standard error if it cannot keep the
  /// token.
  ///
  /// - Parameter sent: The token in the request.
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
        "the web auth token cannot be saved, and the user will be signed out at the next launch: "
          + error.localizedDescription)
    }
  }

  /// The token of the next request; nil if no user is signed in.
  var webAuthToken: String? { session.withLock { $0?.newest } }

  /// Signs a user in with a token, or out with nil.
  ///
  /// - Throws: The error of the file if the session cannot be written to disk.
  func setWebAuthToken(_ token: String?) throws(CKError) {
    let content = token.map { StoredSession.Content($0) }
    session.withLock { $0 = content }
    try stored?.keep(content)
  }

  /// The long-lived operations of the user who is signed in.
  var longLivedOperations: LongLivedOperationStore {
    LongLivedOperationStore(
      containerIdentifier: containerIdentifier, configuration: configuration,
      firstToken: session.withLock { $0?.first })
  }
}

extension PetrelConfiguration.Environment {
  /// The environment as the protocol has it.
  var model: ContainerEnvironment {
    switch self {
    case .development: .development
    case .production: .production
    }
  }
}

extension MessageContext {
  /// Returns how the messages of a database name the owners of zones.
  ///
  /// In the shared database the names identify the owners. The other databases have only one owner.
  static func client(of scope: DatabaseScope) -> MessageContext {
    MessageContext(ownerNaming: scope == .shared ? .explicit : .implied)
  }
}
