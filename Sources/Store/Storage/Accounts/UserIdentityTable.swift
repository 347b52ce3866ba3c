import CloudKitModel
import SQLEngine
import StoreModel

/// The identities under which OpenID Connect issuers know the users. A user may have several. No
/// method assigns an identity to another user.
struct UserIdentityTable: Table {
  let transaction: StoreTransaction

  /// `issuer` is a URL. `subject` is the issuer's permanent name for the person. Only the two
  /// together are unique (OpenID Connect Core, section 2).
  static let definition = [
    """
    CREATE TABLE user_identities (
      issuer TEXT NOT NULL, subject TEXT NOT NULL, user_record_name TEXT NOT NULL,
      created BIGINT NOT NULL, PRIMARY KEY (issuer, subject))
    """
  ]

  /// The caller must have checked, in the same transaction, that no user has the identity.
  func bind(_ identity: IssuedIdentity, to user: User, at timestamp: Timestamp) throws {
    try decide(
      sql.add,
      [
        .text(identity.issuer), .text(identity.subject), .text(user.userRecordName),
        .time(timestamp),
      ])
  }

  func identities(of userRecordName: String) throws -> [UserHoldings.Identity] {
    try connection.rows(sql.identities, [.text(userRecordName)]) {
      UserHoldings.Identity(
        identity: IssuedIdentity(issuer: $0.text(0), subject: $0.text(1)), created: $0.time(2))
    }
  }

  struct Statements {
    let add: Statement = """
      INSERT INTO user_identities (issuer, subject, user_record_name, created)
      VALUES ($1, $2, $3, $4)
      """
    let identities = """
      SELECT issuer, subject, created FROM user_identities WHERE user_record_name = $1
      ORDER BY created, issuer, subject
      """.except(.wholeTable)
  }
  static let sql = Statements()
}
