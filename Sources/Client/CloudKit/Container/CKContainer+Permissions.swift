extension CKContainer {
  /// What an app may do only if its user permits it.
  @available(*, deprecated, message: "No longer supported")
  public struct ApplicationPermissions: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
      self.rawValue = rawValue
    }

    /// Others who use the app may find the user by e-mail address, phone number or record ID.
    public static let userDiscoverability = ApplicationPermissions(rawValue: 1)
  }

  /// Whether the user permits something.
  @available(*, deprecated, message: "No longer supported")
  public enum ApplicationPermissionStatus: Int, Sendable {
    /// The user was not asked yet.
    case initialState = 0
    /// It could not be found out; see the error.
    case couldNotComplete = 1
    case denied = 2
    case granted = 3
  }

  /// What is called with the outcome of a request for a permission.
  @available(*, deprecated, message: "No longer supported")
  public typealias ApplicationPermissionBlock = (
    CKContainer.ApplicationPermissionStatus, (any Error)?
  ) -> Void

  /// The same under the names that code of some years uses.
  @available(*, deprecated, message: "No longer supported")
  public enum Application {
    public typealias Permissions = CKContainer.ApplicationPermissions
    public typealias PermissionStatus = CKContainer.ApplicationPermissionStatus
    public typealias PermissionBlock = CKContainer.ApplicationPermissionBlock
  }

  /// Grants the app a permission, unless the user denied it before. There is no dialog: the program
  /// acts for its user. The handler gets `couldNotComplete` with the error.
  @available(*, deprecated, message: "No longer supported")
  public func requestApplicationPermission(
    _ applicationPermission: CKContainer.ApplicationPermissions,
    completionHandler: @escaping CKContainer.ApplicationPermissionBlock
  ) {
    startAskingFor(applicationPermission, requests: true) {
      completionHandler($0.value ?? .couldNotComplete, $0.error)
    }
  }

  /// Grants the app a permission, unless the user denied it before. There is no dialog: the program
  /// acts for its user.
  @available(*, deprecated, message: "No longer supported")
  public func requestApplicationPermission(
    _ applicationPermission: CKContainer.ApplicationPermissions
  ) async throws -> CKContainer.ApplicationPermissionStatus {
    try await CKOperation.result {
      self.startAskingFor(applicationPermission, requests: true, $0)
    }
  }

  /// Whether the app has a permission. The handler gets `couldNotComplete` with the error.
  @available(*, deprecated, message: "No longer supported")
  public func status(
    forApplicationPermission applicationPermission: CKContainer.ApplicationPermissions,
    completionHandler: @escaping CKContainer.ApplicationPermissionBlock
  ) {
    startAskingFor(applicationPermission, requests: false) {
      completionHandler($0.value ?? .couldNotComplete, $0.error)
    }
  }

  /// Whether the app has a permission.
  @available(*, deprecated, message: "No longer supported")
  public func applicationPermissionStatus(
    for applicationPermission: CKContainer.ApplicationPermissions
  ) async throws -> CKContainer.ApplicationPermissionStatus {
    try await CKOperation.result {
      self.startAskingFor(applicationPermission, requests: false, $0)
    }
  }

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
