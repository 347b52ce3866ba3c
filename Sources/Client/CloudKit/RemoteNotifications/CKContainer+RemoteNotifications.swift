internal import WebServices

extension CKContainer {
  /// The notifications for this device. Petrel's own; see ``RemoteNotifications``.
  public func remoteNotifications() -> RemoteNotifications {
    RemoteNotifications(listener: CourierListener(client: client))
  }

  /// Tells the server this device's APNs token, so that it sends pushes to the device. Petrel's
  /// own: on Apple's systems the framework does it.
  ///
  /// - Parameters:
  ///   - deviceToken: as `application(_:didRegisterForRemoteNotificationsWithDeviceToken:)` gives
  ///     it.
  ///   - apnsEnvironment: whether the app is signed for APNs' development or production
  ///     environment; nil means the one of the container.
  public func registerForRemoteNotifications(
    deviceToken: Data, apnsEnvironment: PetrelConfiguration.Environment? = nil,
    completionHandler: @escaping ((any Error)?) -> Void
  ) {
    startRegistering(deviceToken, apnsEnvironment) { completionHandler($0.error) }
  }

  /// Tells the server this device's APNs token, so that it sends pushes to the device. Petrel's
  /// own: on Apple's systems the framework does it.
  public func registerForRemoteNotifications(
    deviceToken: Data, apnsEnvironment: PetrelConfiguration.Environment? = nil
  ) async throws {
    try await CKOperation.result { self.startRegistering(deviceToken, apnsEnvironment, $0) }
  }

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

/// Registers a device's own APNs token.
final class RegisterTokenOperation: CKOperation, @unchecked Sendable {
  var deviceToken = Data()
  var apnsEnvironment: PetrelConfiguration.Environment?
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
