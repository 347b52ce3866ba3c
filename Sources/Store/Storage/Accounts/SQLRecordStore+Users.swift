import CloudKitModel
import Foundation
import SQLEngine
import StoreModel

extension SQLRecordStore {
  public func addUser(
    named name: String, profile: UserProfile, at timestamp: Timestamp
  ) async throws -> User {
    try await write(locking: .reference) {
      try $0.addUser(named: name, profile: profile, at: timestamp)
    }
  }

  public func user(named name: String) async throws -> User? {
    try await read { try $0.user(named: name) }
  }

  public func user(withRecordName userRecordName: String) async throws -> User? {
    try await read {
      try $0.connection.first(
        User.selection + " WHERE users.user_record_name = $1", [.text(userRecordName)],
        User.init)
    }
  }

  public func users() async throws -> [User] {
    try await read {
      try $0.connection.rows(User.selection + " ORDER BY users.name", [], User.init)
    }
  }
}

extension User {
  /// The columns that ``init(_:)`` reads.
  static let selection = """
    SELECT users.name, users.user_record_name, users.created, users.email, users.phone,
      users.name_prefix, users.given_name, users.middle_name, users.family_name,
      users.name_suffix, users.nickname, (
        SELECT COUNT(*) FROM user_deletions
        WHERE user_deletions.user_record_name = users.user_record_name)
    FROM users
    """

  init(_ row: any SQLRow) {
    var names = PersonNameComponents()
    names.namePrefix = row.optionalText(5)
    names.givenName = row.optionalText(6)
    names.middleName = row.optionalText(7)
    names.familyName = row.optionalText(8)
    names.nameSuffix = row.optionalText(9)
    names.nickname = row.optionalText(10)
    self.init(
      name: row.text(0), userRecordName: row.text(1),
      created: Timestamp(milliseconds: row.integer(2)),
      profile: UserProfile(stored: row.optionalText(3), row.optionalText(4), names))
    isBeingDeleted = row.integer(11) > 0
  }
}

extension StoreSession {
  func user(named name: String) throws -> User? {
    try connection.first(User.selection + " WHERE users.name = $1", [.text(name)], User.init)
  }

  /// Makes an account; without a name its user record name stands in for it.
  func addUser(
    named name: String?, profile: UserProfile, at timestamp: Timestamp
  ) throws -> User {
    let userRecordName = "_" + makeUUID().uuidString.lowercased().filter { $0 != "-" }
    let user = User(
      name: name ?? userRecordName, userRecordName: userRecordName, created: timestamp,
      profile: profile)
    let names = profile.nameComponents ?? PersonNameComponents()
    let added = try connection.run(
      """
      INSERT INTO users (name, user_record_name, created, email, phone, name_prefix, given_name,
        middle_name, family_name, name_suffix, nickname)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
      ON CONFLICT DO NOTHING
      """,
      [
        .text(user.name), .text(user.userRecordName), .integer(timestamp.milliseconds),
        SQLValue(profile.emailAddress), SQLValue(profile.phoneNumber),
        SQLValue(names.namePrefix), SQLValue(names.givenName), SQLValue(names.middleName),
        SQLValue(names.familyName), SQLValue(names.nameSuffix), SQLValue(names.nickname),
      ])
    guard added == 1 else { throw try conflict(of: user) }
    return user
  }

  /// What a new user has in common with one who is there already.
  private func conflict(of user: User) throws -> StoreError {
    let isNameTaken = try connection.first(
      "SELECT 1 FROM users WHERE name = $1", [.text(user.name)]
    ) { _ in true }
    if isNameTaken != nil {
      return StoreError(
        .exists, "there is a user named '\(user.name)' already; choose another name")
    }
    let places = [user.profile.emailAddress, user.profile.phoneNumber].compactMap { $0 }
    return StoreError(
      .exists,
      "another user has \(places.joined(separator: " or ")) already; each user needs their own")
  }
}
