import CloudKitModel
import Foundation
import StoreModel

extension Schema {
  /// Hashes of passwords, and the users' identities at issuers.
  static let signIn = [
    """
    CREATE TABLE user_passwords (
      user_record_name TEXT PRIMARY KEY, hash TEXT NOT NULL, changed BIGINT NOT NULL)
    """,
    """
    CREATE TABLE user_identities (
      issuer TEXT NOT NULL, subject TEXT NOT NULL, user_record_name TEXT NOT NULL,
      created BIGINT NOT NULL, PRIMARY KEY (issuer, subject))
    """,
  ]
}

extension SQLRecordStore {
  public func setPasswordHash(
    _ hash: String, ofUserNamed name: String, at timestamp: Timestamp
  ) async throws {
    try await writeDevices { session, orders in
      if let user = try session.user(named: name) {
        try session.refuseDeleted(user.userRecordName)
      }
      let changed = try session.connection.run(
        """
        INSERT INTO user_passwords (user_record_name, hash, changed)
        SELECT user_record_name, $2, $3 FROM users WHERE name = $1
        ON CONFLICT (user_record_name)
        DO UPDATE SET hash = excluded.hash, changed = excluded.changed
        """, [.text(name), .text(hash), .integer(timestamp.milliseconds)])
      guard changed == 1, let user = try session.user(named: name) else {
        throw StoreError.noUser(named: name)
      }
      _ = try session.endSessions(
        of: user.userRecordName, everywhere: false, at: timestamp, ordering: &orders)
    }
  }

  public func passwordHash(ofUserNamed name: String) async throws -> String? {
    try await read {
      try $0.connection.first(
        """
        SELECT user_passwords.hash FROM users
        JOIN user_passwords ON user_passwords.user_record_name = users.user_record_name
        WHERE users.name = $1
        """, [.text(name)]
      ) { $0.text(0) }
    }
  }

  public func user(
    boundTo identity: IssuedIdentity, proposing name: String, profile: UserProfile,
    at timestamp: Timestamp
  ) async throws -> User {
    if let known = try await read({ try $0.user(boundTo: identity) }), !known.isBeingDeleted {
      return known
    }
    return try await write(locking: .reference) { session in
      // Another sign-in of the same person may have come first.
      if let known = try session.user(boundTo: identity) {
        try session.refuseDeleted(known.userRecordName)
        return known
      }
      let user = try session.addUser(proposing: name, profile: profile, at: timestamp)
      try session.connection.run(
        """
        INSERT INTO user_identities (issuer, subject, user_record_name, created)
        VALUES ($1, $2, $3, $4)
        """,
        [
          .text(identity.issuer), .text(identity.subject), .text(user.userRecordName),
          .integer(timestamp.milliseconds),
        ])
      return user
    }
  }
}

extension StoreSession {
  fileprivate func user(boundTo identity: IssuedIdentity) throws -> User? {
    try connection.first(
      User.selection + """
         JOIN user_identities ON user_identities.user_record_name = users.user_record_name
        WHERE user_identities.issuer = $1 AND user_identities.subject = $2
        """, [.text(identity.issuer), .text(identity.subject)], User.init)
  }

  fileprivate func addUser(
    proposing name: String, profile: UserProfile, at timestamp: Timestamp
  ) throws -> User {
    let isEmailTaken = try isTaken(
      "SELECT 1 FROM users WHERE email = $1", profile.emailAddress)
    let isPhoneTaken = try isTaken(
      "SELECT 1 FROM users WHERE phone = $1", profile.phoneNumber)
    let profile = UserProfile(
      stored: isEmailTaken ? nil : profile.emailAddress,
      isPhoneTaken ? nil : profile.phoneNumber,
      profile.nameComponents ?? PersonNameComponents())
    let isNameTaken = try isTaken("SELECT 1 FROM users WHERE name = $1", name)
    return try addUser(named: isNameTaken ? nil : name, profile: profile, at: timestamp)
  }

  private func isTaken(_ statement: String, _ value: String?) throws -> Bool {
    guard let value else { return false }
    return try connection.first(statement, [.text(value)]) { _ in true } ?? false
  }
}
