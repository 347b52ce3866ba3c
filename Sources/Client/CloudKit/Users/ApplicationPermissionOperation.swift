internal import CloudKitModel
internal import WebServices

/// An operation that reads the user's permission for the app. If ``requests`` is set and the user
/// has not decided yet, the operation grants the permission.
///
/// The operation shows no dialog, because the program acts for its user. It never changes a denial.
/// Only the permission `.userDiscoverability` is known; others fail with `invalidArguments`.
@available(*, deprecated)
final class ApplicationPermissionOperation: CKOperation, @unchecked Sendable {
  typealias Status = ApplicationPermission.Status

  /// The permissions to read.
  var permissions: CKContainer.ApplicationPermissions = []
  /// Whether the operation grants the permission if the user has not decided yet.
  var requests = false
  /// The block that the operation calls once with the status of the permission.
  var completion: ((Result<CKContainer.ApplicationPermissionStatus, any Error>) -> Void)?
  /// The status in the server's last answer.
  private var status: Status?

  override func firstCall() throws(CKError) -> ServiceCall? {
    guard permissions == .userDiscoverability else {
      throw CKError(
        .invalidArguments,
        "application permission \(permissions.rawValue) is unknown; use userDiscoverability")
    }
    return ServiceCall(operation: "users/permissions", scope: .public)
  }

  override func receive(_ answer: ServiceExchange.Answer) throws(CKError) -> ServiceCall? {
    let message = try read { () throws(ServiceError) in
      try PermissionsMessage(parsing: answer.body)
    }
    let current = message.statuses[.userDiscoverability] ?? .initialState
    status = current
    guard requests, current == .initialState else { return nil }
    // The operation grants only once. A server that does not store the permission can therefore
    // cause no endless loop.
    requests = false
    return ServiceCall(
      operation: "users/permissions", scope: .public,
      body: PermissionsMessage(statuses: [.userDiscoverability: .granted]).body)
  }

  override func conclude(_ error: CKError?) {
    if let error {
      completion?(.failure(error))
    } else {
      completion?(.success(.init(status ?? .initialState)))
    }
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    completion = nil
  }
}

@available(*, deprecated)
extension CKContainer.ApplicationPermissionStatus {
  /// Makes the status from the status in the protocol.
  fileprivate init(_ model: ApplicationPermission.Status) {
    self =
      switch model {
      case .initialState: .initialState
      case .denied: .denied
      case .granted: .granted
      }
  }
}
