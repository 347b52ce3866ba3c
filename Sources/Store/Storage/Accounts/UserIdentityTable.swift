import CloudKitModel
import SQLEngine
import StoreModel

/// The users' identities at issuers.
struct UserIdentityTable {
  let transaction: StoreTransaction

  private var connection: any SQLConnection { transaction.connection }

  static let definition = [
    """
    CREATE TABLE user_identities (
      issuer TEXT NOT NULL, subject TEXT NOT NULL, user_record_name TEXT NOT NULL,
      created BIGINT NOT NULL, PRIMARY KEY (issuer, subject))
    """
  ]

  func bind(_ identity: IssuedIdentity, to user: User, at timestamp: Timestamp) throws {
    try connection.run(
      """
      INSERT INTO user_identities (issuer, subject, user_record_name, created)
      VALUES ($1, $2, $3, $4)
      """,
      [
        .text(identity.issuer), .text(identity.subject), .text(user.userRecordName),
        .integer(timestamp.milliseconds),
      ])
  }

  /// A user's identities in the order in which they were bound.
  func identities(of userRecordName: String) throws -> [UserHoldings.Identity] {
    try connection.rows(
      """
      SELECT issuer, subject, created FROM user_identities WHERE user_record_name = $1
      ORDER BY created, issuer, subject
      """, [.text(userRecordName)]
    ) {
      UserHoldings.Identity(
        identity: IssuedIdentity(issuer: $0.text(0), subject: $0.text(1)),
        created: Timestamp(milliseconds: $0.integer(2)))
    }
  }
}
