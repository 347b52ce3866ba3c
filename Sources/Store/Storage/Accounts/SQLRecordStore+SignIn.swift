import CloudKitModel
import StoreModel

extension SQLRecordStore {
  public func setPasswordHash(
    _ hash: String, ofUserNamed name: String, at timestamp: Timestamp
  ) async throws {
    try await writeDevices { session, orders in
      let users = UserTable(session: session)
      if let user = try users.user(named: name) {
        try UserDeletionTable(session: session).refuseDeleted(user.userRecordName)
      }
      let isSet = try PasswordTable(session: session)
        .setHash(hash, ofUserNamed: name, at: timestamp)
      guard isSet, let user = try users.user(named: name) else {
        throw StoreError.noUser(named: name)
      }
      _ = try WebAuthTokenTable(session: session)
        .endSessions(
          of: user.userRecordName, everywhere: false, at: timestamp, ordering: &orders)
    }
  }

  public func passwordHash(ofUserNamed name: String) async throws -> String? {
    try await read { try PasswordTable(session: $0).hash(ofUserNamed: name) }
  }

  public func user(
    boundTo identity: IssuedIdentity, proposing name: String, profile: UserProfile,
    at timestamp: Timestamp
  ) async throws -> User {
    if let known = try await read({ try UserTable(session: $0).user(boundTo: identity) }),
      !known.isBeingDeleted
    {
      return known
    }
    return try await write(locking: .reference) { session in
      let users = UserTable(session: session)
      // Another sign-in of the same person may have come first.
      if let known = try users.user(boundTo: identity) {
        try UserDeletionTable(session: session).refuseDeleted(known.userRecordName)
        return known
      }
      let user = try users.add(proposing: name, profile: profile, at: timestamp)
      try UserIdentityTable(session: session).bind(identity, to: user, at: timestamp)
      return user
    }
  }
}
