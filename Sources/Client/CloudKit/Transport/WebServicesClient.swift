internal import CloudKitModel
internal import WebServices

/// A call of CloudKit Web Services, without credentials. ``WebServicesClient`` adds the
/// credentials.
struct ServiceCall: Sendable {
  /// The name in the protocol, such as `records/modify`.
  var operation: String
  /// The scope of the database; nil for a call that concerns the whole container, such as
  /// `tokens/…` and `notifications/…`.
  var scope: DatabaseScope?
  var body: Data?
  /// The web auth token of a user who is no longer signed in. With nil, the request has the token of the
  /// client, and its answer shows whether the client has an account.
  var formerToken: String?
  /// The file to transfer. If it is set, the exchange transfers the file and ignores `scope` and
  /// `body`.
  var transfer: Transfer?
  /// The function that gets the result of the call, on the operation's queue. With nil, the answer
  /// goes to ``CKOperation/receive(_:)``. Steps that several operations have in common, such as an
  /// upload, set this property.
  var receiver: Receiver?

  /// A function that gets the result of a call and returns the next call; nil ends the operation.
  typealias Receiver =
    @Sendable (Result<ServiceExchange.Answer, CKError>) throws(CKError) -> ServiceCall?

  /// The transfer of the bytes of an asset.
  struct Transfer: Sendable {
    var direction: AssetTransfer.Direction
    /// The URL exactly as the server returned it.
    var url: URL
    /// The function that gets the progress: the number of bytes transferred so far. It is called on
    /// the operation's queue. Another attempt counts from 0 again. If the function returns an
    /// error, the transfer ends with it.
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

/// A client of the server, for one container, one user and one device.
///
/// The client adds the credentials to each request. All operations of a container share one client.
/// Locks protect the values that change.
final class WebServicesClient: Sendable {
  let containerIdentifier: String
  let configuration: PetrelConfiguration
  let transport: any WebServicesTransport
  private let stored: StoredSession?
  private let session: Locked<StoredSession.Content?>
  private let account = Locked(AccountObservation())
  private let hub = Locked(WeakHub())

  /// A hub that lives as long as a receiver uses it.
  private struct WeakHub {
    weak var hub: CourierHub?
  }

  /// Makes a client of a container.
  ///
  /// - Parameters:
  ///   - transport: The transport of the requests; nil means HTTP.
  ///   - keepsSession: Whether the web auth tokens are stored on disk for the next launch.
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

  var courierHub: CourierHub {
    hub.withLock { weak in
      if let hub = weak.hub { return hub }
      let hub = CourierHub { CourierListener(client: self) }
      weak.hub = hub
      return hub
    }
  }

  private static func transport(to serverURL: URL) -> any WebServicesTransport {
    #if os(Linux)
    CurlTransport(serverURL: serverURL)
    #else
    URLSessionTransport(serverURL: serverURL)
    #endif
  }

  /// Returns the request for a call, with the credentials of the user and the device.
  func request(for call: ServiceCall, timeout: TimeInterval) -> TransportRequest {
    let path = ServicePath(
      container: containerIdentifier, environment: configuration.environment.model,
      scope: call.scope, operation: call.operation)
    var query: [TransportRequest.QueryItem] = []
    if let apiToken = configuration.apiToken { query.append(.init("ckAPIToken", apiToken)) }
    if let token = call.formerToken ?? webAuthToken {
      query.append(.init(TransportRequest.webAuthTokenName, token))
    }
    query.append(.init("clientId", configuration.deviceID))
    // Records and shares name the current user as Apple's framework does. The methods that find users
    // give the record names by which others know them.
    if !call.operation.hasPrefix("users/") {
      query.append(.init(MessageContext.callerNameParameter, ZoneID.currentOwnerName))
    }
    return TransportRequest(
      method: call.body == nil ? .get : .post, target: .path(path.description, query: query),
      body: call.body, timeout: timeout)
  }

  /// Records the parts of an answer that later requests depend on: the account status and the next
  /// web auth token.
  ///
  /// The server can answer with the next web auth token (CloudKit Web Services Reference,
  /// "Authenticating users"). The client uses that token from now on. It ignores that token if the
  /// token of this request is no longer the client's current token.
  ///
  /// If the answer shows that an account has appeared or disappeared, the method posts
  /// `CKAccountChanged`. The method can write to the disk. If it cannot save the token, it prints a
  /// warning on standard error.
  ///
  /// - Parameter sent: The web auth token in the request; nil if it had none.
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

  var webAuthToken: String? { session.withLock { $0?.newest } }

  /// Signs a user in with a token; nil signs the user out. The web courier is read for the new user
  /// from now on.
  ///
  /// - Returns: The token of the user who was signed in; nil if there was none, or if it is the same.
  func replaceWebAuthToken(_ token: String?) -> String? {
    let content = token.map { StoredSession.Content($0) }
    let former = session.withLock { session in
      defer { session = content }
      return session?.newest
    }
    guard former != token else { return nil }
    hub.withLock { $0.hub }?.restart()
    return former
  }

  /// Throws `internalError` if the token cannot be written to disk.
  func keepSession() throws(CKError) {
    try stored?.keep(session.withLock { $0 })
  }

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
  /// Returns the rule by which the messages of a database name the owners of zones.
  ///
  /// In the shared database, a zone's owner name identifies the owner. In the other databases, all
  /// zones have the same owner, so the client ignores owner names in answers.
  static func client(of scope: DatabaseScope) -> MessageContext {
    MessageContext(ownerNaming: scope == .shared ? .explicit : .implied)
  }
}
