internal import CloudKitModel
internal import WebServices

/// Asks whether the user lets the app do something, and grants it where the user was not asked yet.
///
/// There is no dialog to show: the program acts for its user. A user who denied it elsewhere is not
/// asked again.
@available(*, deprecated)
final class ApplicationPermissionOperation: CKOperation, @unchecked Sendable {
  typealias Status = ApplicationPermission.Status

  var permissions: CKContainer.ApplicationPermissions = []
  /// Whether to grant what was not decided on yet.
  var requests = false
  var completion: ((Result<CKContainer.ApplicationPermissionStatus, any Error>) -> Void)?
  private var status: Status?

  override func firstCall() throws(CKError) -> ServiceCall? {
    guard permissions == .userDiscoverability else {
      throw CKError(
        .invalidArguments,
        "application permission \(permissions.rawValue) is not known; only userDiscoverability is")
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
    // Once only: a server that does not keep it is not asked again.
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
