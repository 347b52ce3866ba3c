internal import WebServices

/// An operation that finds users who permit discovery: they allow others to find them. The methods
/// of `CKContainer` use it.
///
/// The operation looks up the users in ``lookupInfos``, or finds all users.
final class DiscoverUsersOperation: CKOperation, @unchecked Sendable {
  /// The users in the server's answer.
  struct Found {
    var all: [CKUserIdentity] = []
    var byLookup: [CKUserIdentity.LookupInfo: CKUserIdentity] = [:]
  }

  var lookupInfos: [CKUserIdentity.LookupInfo]?
  var completion: ((Result<Found, any Error>) -> Void)?
  private var found = Found()

  override func firstCall() throws(CKError) -> ServiceCall? {
    guard let lookupInfos else { return .discoverAllUsers }
    return .discoverUsers(lookupInfos)
  }

  override func receive(_ answer: ServiceExchange.Answer) throws(CKError) -> ServiceCall? {
    found = try foundUsers(in: answer)
    return nil
  }

  override func conclude(_ error: CKError?) {
    completion?(error.map { .failure($0) } ?? .success(found))
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    completion = nil
  }
}

extension ServiceCall {
  static let discoverAllUsers = ServiceCall(operation: "users/discover", scope: .public)

  static func discoverUsers(_ lookupInfos: [CKUserIdentity.LookupInfo]) -> ServiceCall? {
    guard !lookupInfos.isEmpty else { return nil }
    return ServiceCall(
      operation: "users/discover", scope: .public,
      body: FindUsersRequest<UserDiscovery>(lookups: lookupInfos.map(\.model)).body)
  }
}

extension CKOperation {
  /// Throws `internalError` if the answer cannot be parsed.
  func foundUsers(
    in answer: ServiceExchange.Answer
  ) throws(CKError) -> DiscoverUsersOperation.Found {
    let response = try read { () throws(ServiceError) in
      try UsersResponse(parsing: answer.body)
    }
    var found = DiscoverUsersOperation.Found()
    for user in response.users {
      let identity = CKUserIdentity(user)
      found.all.append(identity)
      if let lookupInfo = identity.lookupInfo { found.byLookup[lookupInfo] = identity }
    }
    return found
  }
}
