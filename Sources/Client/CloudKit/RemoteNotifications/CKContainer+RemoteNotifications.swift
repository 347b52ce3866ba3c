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
  ///   - completionHandler: Called on a background queue, with an error if the registration failed.
  public func registerForRemoteNotifications(
    deviceToken: Data, apnsEnvironment: PetrelConfiguration.Environment? = nil,
    completionHandler: @escaping ((any Error)?) -> Void
  ) {
    startRegistering(deviceToken, apnsEnvironment) { completionHandler($0.error) }
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
  /// - Throws: A `CKError`; `invalidArguments` if the token is empty.
  public func registerForRemoteNotifications(
    deviceToken: Data, apnsEnvironment: PetrelConfiguration.Environment? = nil
  ) async throws {
    try await CKOperation.result { self.startRegistering(deviceToken, apnsEnvironment, $0) }
  }

  /// Starts the operation that registers the token.
  @discardableResult
  private func startRegistering(
    _ deviceToken: Data, _ apnsEnvironment: PetrelConfiguration.Environment?,
    _ completion: @escaping (Result<Void, any Error>) -> Void
  ) -> CKOperation {
    let operation = RegisterTokenOperation()
    operation.deviceToken = deviceToken
    operation.apnsEnvironment = apnsEnvironment
    operation.completion = completion
    return run(operation)
  }
}

/// An operation that registers the device's own APNs token with the server.
final class RegisterTokenOperation: CKOperation, @unchecked Sendable {
  /// The token as APNs issued it. The request contains the token in hexadecimal.
  var deviceToken = Data()
  /// The environment of APNs; nil means the container's environment.
  var apnsEnvironment: PetrelConfiguration.Environment?
  /// The block that the operation calls once with the result.
  var completion: ((Result<Void, any Error>) -> Void)?

  override func firstCall() throws(CKError) -> ServiceCall? {
    guard !deviceToken.isEmpty else {
      throw CKError(.invalidArguments, "the device token is empty")
    }
    let text = deviceToken.map { String(format: "%02x", $0) }.joined()
    return .tokens(
      "register", token: text, apnsEnvironment: apnsEnvironment,
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
