extension CKContainer {
  /// A set of permissions that an app needs from its user.
  @available(*, deprecated, message: "No longer supported")
  public struct ApplicationPermissions: OptionSet, Sendable, BitwiseCopyable {
    /// The bits of the set. They are the same as in Apple's framework.
    public let rawValue: UInt

    /// Creates a set from its bits.
    public init(rawValue: UInt) {
      self.rawValue = rawValue
    }

    /// The permission for other users of the app to find this user by e-mail address, phone number
    /// or record ID.
    public static let userDiscoverability = ApplicationPermissions(rawValue: 1)
  }

  /// The user's decision about a permission of the app.
  @available(*, deprecated, message: "No longer supported")
  public typealias ApplicationPermissionStatus = CKApplicationPermissionStatus

  /// The type of the handlers of permission requests. The handler gets the status and an error. The
  /// error is `nil` unless the status is `couldNotComplete`.
  @available(*, deprecated, message: "No longer supported")
  public typealias ApplicationPermissionBlock = (
    CKContainer.ApplicationPermissionStatus, (any Error)?
  ) -> Void

  /// The namespace of the former names of the permission types.
  @available(*, deprecated, message: "No longer supported")
  public enum Application {
    /// The former name of ``CKContainer/ApplicationPermissions``.
    public typealias Permissions = CKContainer.ApplicationPermissions
    /// The former name of ``CKContainer/ApplicationPermissionStatus``.
    public typealias PermissionStatus = CKContainer.ApplicationPermissionStatus
    /// The former name of ``CKContainer/ApplicationPermissionBlock``.
    public typealias PermissionBlock = CKContainer.ApplicationPermissionBlock
  }

  /// Grants the app a permission, unless the user has denied it before.
  ///
  /// Apple's systems ask the user in a dialog. Petrel shows no dialog, because the program acts for
  /// its user.
  ///
  /// - Parameters:
  ///   - applicationPermission: exactly `userDiscoverability`; other sets give `invalidArguments`.
  ///   - completionHandler: called on a background queue. When the request fails, the status is
  ///     `couldNotComplete` and the error gives the reason.
  @available(*, deprecated, message: "No longer supported")
  public func requestApplicationPermission(
    _ applicationPermission: CKContainer.ApplicationPermissions,
    completionHandler: @escaping CKContainer.ApplicationPermissionBlock
  ) {
    startAskingFor(applicationPermission, requests: true) {
      completionHandler($0.value ?? .couldNotComplete, $0.error)
    }
  }

  /// Grants the app a permission, unless the user has denied it before.
  ///
  /// Apple's systems ask the user in a dialog. Petrel shows no dialog, because the program acts for
  /// its user.
  ///
  /// - Parameter applicationPermission: exactly `userDiscoverability`.
  /// - Returns: the status after the request.
  /// - Throws: `invalidArguments` for other sets, `notAuthenticated` when no user is signed in.
  @available(*, deprecated, message: "No longer supported")
  public func requestApplicationPermission(
    _ applicationPermission: CKContainer.ApplicationPermissions
  ) async throws -> CKContainer.ApplicationPermissionStatus {
    try await CKOperation.result {
      self.startAskingFor(applicationPermission, requests: true, $0)
    }
  }

  /// Fetches the state of a permission.
  ///
  /// - Parameters:
  ///   - applicationPermission: exactly `userDiscoverability`; other sets give `invalidArguments`.
  ///   - completionHandler: called on a background queue. When the request fails, the status is
  ///     `couldNotComplete` and the error gives the reason.
  @available(*, deprecated, message: "No longer supported")
  public func status(
    forApplicationPermission applicationPermission: CKContainer.ApplicationPermissions,
    completionHandler: @escaping CKContainer.ApplicationPermissionBlock
  ) {
    startAskingFor(applicationPermission, requests: false) {
      completionHandler($0.value ?? .couldNotComplete, $0.error)
    }
  }

  /// Returns the state of a permission.
  ///
  /// - Parameter applicationPermission: exactly `userDiscoverability`.
  /// - Throws: `invalidArguments` for other sets, `notAuthenticated` when no user is signed in.
  @available(*, deprecated, message: "No longer supported")
  public func applicationPermissionStatus(
    for applicationPermission: CKContainer.ApplicationPermissions
  ) async throws -> CKContainer.ApplicationPermissionStatus {
    try await CKOperation.result {
      self.startAskingFor(applicationPermission, requests: false, $0)
    }
  }

  /// Queues the operation that reads a permission.
  ///
  /// - Parameter requests: whether the operation also grants the permission, if the user has not
  ///   decided yet.
  @available(*, deprecated)
  @discardableResult
  private func startAskingFor(
    _ permissions: CKContainer.ApplicationPermissions, requests: Bool,
    _ completion:
      @escaping (Result<CKContainer.ApplicationPermissionStatus, any Error>) -> Void
  ) -> CKOperation {
    let operation = ApplicationPermissionOperation()
    operation.permissions = permissions
    operation.requests = requests
    operation.completion = completion
    return run(operation)
  }
}
