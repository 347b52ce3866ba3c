import CloudKitModel
import Foundation
import SQLEngine
import StoreModel

/// The users with their names, e-mail addresses and phone numbers.
///
/// `name` identifies a user to people and in commands; `user_record_name` in the protocol and in
/// the other tables. Both never change, and are the same in all containers.
struct UserTable: Table {
  let transaction: StoreTransaction

  /// `folded_name` is without differences of case, so no two accounts look the same to people.
  ///
  /// The unique indexes permit any number of users without an e-mail address or phone number,
  /// because SQLite and PostgreSQL treat nulls as different values.
  static let definition = [
    """
    CREATE TABLE users (
      name TEXT PRIMARY KEY, user_record_name TEXT NOT NULL UNIQUE, created BIGINT NOT NULL,
      email TEXT, phone TEXT, name_prefix TEXT, given_name TEXT, middle_name TEXT,
      family_name TEXT, name_suffix TEXT, nickname TEXT, folded_name TEXT NOT NULL UNIQUE)
    """,
    "CREATE UNIQUE INDEX users_by_email ON users (email)",
    "CREATE UNIQUE INDEX users_by_phone ON users (phone)",
  ]

  // MARK: Reading

  func user(named name: String) throws -> User? {
    try connection.first(sql.named, [.text(name)], User.init(row:))
  }

  func user(withRecordName userRecordName: String) throws -> User? {
    try connection.first(sql.withRecordName, [.text(userRecordName)], User.init(row:))
  }

  func user(boundTo identity: IssuedIdentity) throws -> User? {
    try connection.first(
      sql.withIdentity, [.text(identity.issuer), .text(identity.subject)], User.init(row:))
  }

  func users() throws -> [User] {
    try connection.rows(sql.all, [], User.init(row:))
  }

  /// - Parameter prefix: compared by its bytes; empty for all users.
  func users(beginningWith prefix: String, after last: String?, limit: Int) throws -> [User] {
    try connection.rows(
      sql.page, [.text(prefix), .text(prefix + "\u{10FFFF}"), .text(last ?? ""), .count(limit)],
      User.init(row:))
  }

  /// The lookup's e-mail address and phone number are in canonical form.
  func contains(_ lookup: UserLookup) throws -> Bool {
    // Without an address, the text is that of no user.
    try connection.exists(
      sql.exists, [.text(lookup.emailAddress ?? ""), .text(lookup.phoneNumber ?? "")])
  }

  func name(of userRecordName: String) throws -> String? {
    try connection.text(sql.name, [.text(userRecordName)])
  }

  // MARK: Writing

  /// Creates an account. Its user record name is `_` and the 32 hexadecimal digits of a new UUID.
  ///
  /// - Parameter name: nil uses the user record name as the name.
  /// - Throws: ``StoreError/Code/exists`` if another user has the name, in any case, the e-mail
  ///   address or the phone number.
  func add(named name: String?, profile: UserProfile, at timestamp: Timestamp) throws -> User {
    let userRecordName =
      "_" + transaction.context.makeUUID().uuidString.lowercased().filter { $0 != "-" }
    let user = User(
      name: name ?? userRecordName, userRecordName: userRecordName, created: timestamp,
      profile: profile)
    let names = profile.nameComponents ?? PersonNameComponents()
    let added = try connection.run(
      sql.add,
      [
        .text(user.name), .text(user.userRecordName), .time(timestamp),
        SQLValue(profile.emailAddress), SQLValue(profile.phoneNumber), SQLValue(names.namePrefix),
        SQLValue(names.givenName), SQLValue(names.middleName), SQLValue(names.familyName),
        SQLValue(names.nameSuffix), SQLValue(names.nickname), .text(Self.folded(user.name)),
      ])
    guard added == 1 else { throw try conflict(of: user) }
    return user
  }

  /// Has the rules of ``AccountService/user(boundTo:proposing:profile:at:)``.
  func add(proposing name: String, profile: UserProfile, at timestamp: Timestamp) throws -> User {
    let isEmailTaken = try isTaken(sql.withEmail, profile.emailAddress)
    let isPhoneTaken = try isTaken(sql.withPhone, profile.phoneNumber)
    let profile = UserProfile(
      stored: isEmailTaken ? nil : profile.emailAddress,
      isPhoneTaken ? nil : profile.phoneNumber,
      profile.nameComponents ?? PersonNameComponents())
    return try add(named: holder(of: name) == nil ? name : nil, profile: profile, at: timestamp)
  }

  private func holder(of name: String) throws -> String? {
    try connection.text(sql.withFoldedName, [.text(Self.folded(name))])
  }

  /// The capital letters of `ß` are `SS`, so names that differ in them are one name too.
  private static func folded(_ name: String) -> String {
    name.trimmingCharacters(in: .whitespacesAndNewlines).precomposedStringWithCanonicalMapping
      .uppercased().lowercased()
  }

  private func isTaken(_ statement: Statement, _ value: String?) throws -> Bool {
    guard let value else { return false }
    return try connection.exists(statement, [.text(value)])
  }

  private func conflict(of user: User) throws -> StoreError {
    if let other = try holder(of: user.name) {
      let difference =
        other == user.name ? "" : ", and '\(user.name)' differs from it only in case or spaces"
      return StoreError(
        .exists, "a user named '\(other)' already exists\(difference); choose another name")
    }
    let places = [user.profile.emailAddress, user.profile.phoneNumber].compactMap { $0 }
    return StoreError(
      .exists,
      "another user has \(places.joined(separator: " or ")) already; each user needs another one")
  }

  struct Statements {
    let discovery = DiscoveryStatements()
    let named: Statement = "\(User.selection) WHERE users.name = $1"
    let withRecordName: Statement = "\(User.selection) WHERE users.user_record_name = $1"
    let withIdentity: Statement = """
      \(User.selection)
      JOIN user_identities ON user_identities.user_record_name = users.user_record_name
      WHERE user_identities.issuer = $1 AND user_identities.subject = $2
      """
    let all = Statement(User.selection + " ORDER BY users.name", .wholeTable)
    let page: Statement = """
      \(User.selection) WHERE users.name >= $1 AND users.name < $2 AND users.name > $3
      ORDER BY users.name LIMIT $4
      """
    let exists: Statement = "SELECT 1 FROM users WHERE email = $1 OR phone = $2 LIMIT 1"
    let name: Statement = "SELECT name FROM users WHERE user_record_name = $1"
    let add: Statement = """
      INSERT INTO users (name, user_record_name, created, email, phone, name_prefix, given_name,
        middle_name, family_name, name_suffix, nickname, folded_name)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
      ON CONFLICT DO NOTHING
      """
    let withEmail: Statement = "SELECT 1 FROM users WHERE email = $1"
    let withPhone: Statement = "SELECT 1 FROM users WHERE phone = $1"
    let withFoldedName: Statement = "SELECT name FROM users WHERE folded_name = $1"
  }
  static let sql = Statements()
}

extension User {
  /// The last column is above 0 while the user is being deleted.
  static let selection = """
    SELECT users.name, users.user_record_name, users.created, users.email, users.phone,
      users.name_prefix, users.given_name, users.middle_name, users.family_name,
      users.name_suffix, users.nickname, (
        SELECT COUNT(*) FROM user_deletions
        WHERE user_deletions.user_record_name = users.user_record_name)
    FROM users
    """

  init(row: any SQLRow) {
    var names = PersonNameComponents()
    names.namePrefix = row.optionalText(5)
    names.givenName = row.optionalText(6)
    names.middleName = row.optionalText(7)
    names.familyName = row.optionalText(8)
    names.nameSuffix = row.optionalText(9)
    names.nickname = row.optionalText(10)
    self.init(
      name: row.text(0), userRecordName: row.text(1), created: row.time(2),
      profile: UserProfile(stored: row.optionalText(3), row.optionalText(4), names))
    isBeingDeleted = row.integer(11) > 0
  }
}
