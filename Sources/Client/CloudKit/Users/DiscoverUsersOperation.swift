internal import WebServices

/// What the discovering methods of the container run: one user by a lookup info, several, or all
/// who let themselves be found.
final class DiscoverUsersOperation: CKOperation, @unchecked Sendable {
  struct Found {
    /// In the server's order.
    var all: [CKUserIdentity] = []
    var byLookup: [CKUserIdentity.LookupInfo: CKUserIdentity] = [:]
  }

  /// Nil means all users.
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

  /// Looks for users; nil when there is nobody to look for.
  static func discoverUsers(_ lookupInfos: [CKUserIdentity.LookupInfo]) -> ServiceCall? {
    guard !lookupInfos.isEmpty else { return nil }
    return ServiceCall(
      operation: "users/discover", scope: .public,
      body: FindUsersRequest<UserDiscovery>(lookups: lookupInfos.map(\.model)).body)
  }
}

extension CKOperation {
  /// The users in the answer to a call that discovers some.
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
