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

  var permissions: CKContainer.ApplicationPermissions = []
  var requests = false
  var completion: ((Result<CKContainer.ApplicationPermissionStatus, any Error>) -> Void)?
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
  fileprivate init(_ model: ApplicationPermission.Status) {
    self =
      switch model {
      case .initialState: .initialState
      case .denied: .denied
      case .granted: .granted
      }
  }
}
