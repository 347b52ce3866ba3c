internal import WebServices

extension CKContainer {
  /// Returns the notifications for this device as a sequence. The method is an addition of Petrel;
  /// see ``RemoteNotifications``.
  public func remoteNotifications() -> RemoteNotifications {
    RemoteNotifications(reader: CourierReader(client: client))
  }

  /// Registers this device's APNs token with the server, which then sends pushes to the device.
  ///
  /// The method is an addition of Petrel: on Apple's systems the framework registers the token. For
  /// an empty token, the error is `invalidArguments`.
  ///
  /// - Parameters:
  ///   - deviceToken: The token that
  ///     `application(_:didRegisterForRemoteNotificationsWithDeviceToken:)` gets.
  ///   - apnsEnvironment: The environment of APNs for which the app is signed. Nil means the
  ///     container's environment.
  ///   - bundleID: The bundle ID of the app that got the token, which must be one of the server's topics for
  ///     the container. Nil means the first of these topics.
  ///   - completionHandler: Called on a background queue, with an error if the registration failed.
  public func registerForRemoteNotifications(
    deviceToken: Data, apnsEnvironment: PetrelConfiguration.Environment? = nil,
    bundleID: String? = Bundle.main.bundleIdentifier,
    completionHandler: @escaping ((any Error)?) -> Void
  ) {
    startRegistering(deviceToken, apnsEnvironment, bundleID) { completionHandler($0.error) }
  }

  /// Registers this device's APNs token with the server, which then sends pushes to the device.
  ///
  /// The method is an addition of Petrel: on Apple's systems the framework registers the token.
  ///
  /// - Parameters:
  ///   - deviceToken: The token that
  ///     `application(_:didRegisterForRemoteNotificationsWithDeviceToken:)` gets.
  ///   - apnsEnvironment: The environment of APNs for which the app is signed. Nil means the
  ///     container's environment.
  ///   - bundleID: The bundle ID of the app that got the token, which must be one of the server's topics for
  ///     the container. Nil means the first of these topics.
  /// - Throws: A `CKError`; `invalidArguments` if the token is empty.
  public func registerForRemoteNotifications(
    deviceToken: Data, apnsEnvironment: PetrelConfiguration.Environment? = nil,
    bundleID: String? = Bundle.main.bundleIdentifier
  ) async throws {
    try await CKOperation.result {
      self.startRegistering(deviceToken, apnsEnvironment, bundleID, $0)
    }
  }

  /// Ends the registrations of this device for the signed-in user: the server sends it no more pushes for
  /// this container.
  ///
  /// The method is an addition of Petrel. ``setWebAuthToken(_:)`` does the same for the user whom it signs
  /// out.
  ///
  /// - Parameter completionHandler: Called on a background queue, with an error if the request failed.
  public func unregisterForRemoteNotifications(
    completionHandler: @escaping ((any Error)?) -> Void
  ) {
    startUnregistering { completionHandler($0.error) }
  }

  /// Ends the registrations of this device for the signed-in user: the server sends it no more pushes for
  /// this container.
  ///
  /// The method is an addition of Petrel. ``setWebAuthToken(_:)`` does the same for the user whom it signs
  /// out.
  ///
  /// - Throws: A `CKError`; `notAuthenticated` if no user is signed in.
  public func unregisterForRemoteNotifications() async throws {
    try await CKOperation.result { self.startUnregistering(completion: $0) }
  }

  /// Starts the operation that ends the device's registrations.
  ///
  /// - Parameter token: The web auth token of a user who is no longer signed in; nil for the present user.
  @discardableResult
  func startUnregistering(
    asUserOf token: String? = nil,
    completion: @escaping (Result<Void, any Error>) -> Void = { _ in }
  ) -> CKOperation {
    let operation = UnregisterDeviceOperation()
    operation.formerToken = token
    operation.completion = completion
    return run(operation)
  }

  @discardableResult
  private func startRegistering(
    _ deviceToken: Data, _ apnsEnvironment: PetrelConfiguration.Environment?,
    _ bundleID: String?, _ completion: @escaping (Result<Void, any Error>) -> Void
  ) -> CKOperation {
    let operation = RegisterTokenOperation()
    operation.deviceToken = deviceToken
    operation.apnsEnvironment = apnsEnvironment
    operation.bundleID = bundleID
    operation.completion = completion
    return run(operation)
  }
}

/// An operation that registers the device's own APNs token with the server.
final class RegisterTokenOperation: CKOperation, @unchecked Sendable {
  /// The token as APNs issued it. The request contains the token in hexadecimal.
  var deviceToken = Data()
  var apnsEnvironment: PetrelConfiguration.Environment?
  /// The bundle ID of the app that got the token; nil means the first topic of the container.
  var bundleID: String?
  var completion: ((Result<Void, any Error>) -> Void)?

  override func firstCall() throws(CKError) -> ServiceCall? {
    guard !deviceToken.isEmpty else {
      throw CKError(.invalidArguments, "the device token is empty")
    }
    let text = deviceToken.map { String(format: "%02x", $0) }.joined()
    return .tokens(
      "register", token: text, apnsEnvironment: apnsEnvironment, bundleID: bundleID,
      configuration: try client.get().configuration)
  }

  override func conclude(_ error: CKError?) {
    completion?(error.map { .failure($0) } ?? .success(()))
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    completion = nil
  }
}

/// An operation that ends the registrations of this device (`tokens/unregister`).
final class UnregisterDeviceOperation: CKOperation, @unchecked Sendable {
  /// The web auth token of a user who is no longer signed in; nil means the present user.
  var formerToken: String?
  var completion: ((Result<Void, any Error>) -> Void)?

  override func firstCall() throws(CKError) -> ServiceCall? {
    let request = TokenUnregistration(clientID: try client.get().configuration.deviceID)
    var call = ServiceCall(operation: "tokens/unregister", scope: nil, body: request.body)
    call.formerToken = formerToken
    return call
  }

  override func conclude(_ error: CKError?) {
    completion?(error.map { .failure($0) } ?? .success(()))
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    completion = nil
  }
}
