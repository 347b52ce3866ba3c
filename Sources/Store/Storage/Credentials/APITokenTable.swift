import CloudKitModel
import SQLEngine
import StoreModel

/// API tokens: a small table, replicated to every node. Revoked tokens stay, because a container
/// that once required a token continues to require one.
struct APITokenTable {
  let transaction: StoreTransaction

  private var connection: any SQLConnection { transaction.connection }

  /// `hash` is the SHA-256 of the token's text, which the store does not have. `redirect_url` is
  /// null for a callback by `postMessage`. `allowed_origins` are separated by spaces; empty for any
  /// origin. The times are in milliseconds since 1970. `revoked` is null for a valid token.
  static let definition = [
    """
    CREATE TABLE api_tokens (
      hash BYTEA PRIMARY KEY, container TEXT NOT NULL, environment TEXT NOT NULL,
      name TEXT NOT NULL, redirect_url TEXT, allowed_origins TEXT NOT NULL,
      created BIGINT NOT NULL, revoked BIGINT)
    """,
    "CREATE INDEX api_tokens_by_container ON api_tokens (container, environment)",
  ]

  /// The tokens of a container's environment, revoked ones included, in the order of their
  /// creation.
  func tokens(container: String, environment: ContainerEnvironment) throws -> [APIToken] {
    try connection.rows(
      APIToken.selection + " WHERE container = $1 AND environment = $2 ORDER BY created, hash",
      [.text(container), .text(environment.rawValue)], APIToken.init(row:))
  }

  /// All tokens, revoked ones included, in the order of containers, environments and creation.
  func tokens() throws -> [APIToken] {
    try connection.rows(
      APIToken.selection + " ORDER BY container, environment, created, hash", [],
      APIToken.init(row:))
  }

  /// Stores a token. A second token with the same hash is an error of the statement.
  func add(_ token: APIToken) throws {
    var redirectURL: String?
    if case .redirect(let url) = token.signInCallback { redirectURL = url }
    try connection.run(
      """
      INSERT INTO api_tokens
        (hash, container, environment, name, redirect_url, allowed_origins, created, revoked)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
      """,
      [
        .bytes(token.hash), .text(token.container), .text(token.environment.rawValue),
        .text(token.name), SQLValue(redirectURL),
        .text(token.allowedOrigins.sorted().joined(separator: " ")),
        .integer(token.created.milliseconds), SQLValue(token.revoked?.milliseconds),
      ])
  }

  /// Revokes a token from `timestamp` on; false if there is no valid token with this hash.
  func revoke(tokenWithHash hash: [UInt8], at timestamp: Timestamp) throws -> Bool {
    try connection.run(
      "UPDATE api_tokens SET revoked = $2 WHERE hash = $1 AND revoked IS NULL",
      [.bytes(hash), .integer(timestamp.milliseconds)]) == 1
  }
}

extension APIToken {
  /// The columns that ``init(row:)`` reads.
  fileprivate static let selection = """
    SELECT hash, container, environment, name, redirect_url, allowed_origins, created, revoked
    FROM api_tokens
    """

  /// Reads a row of ``selection``.
  fileprivate init(row: any SQLRow) throws {
    self.init(
      hash: row.bytes(0), name: row.text(3), container: row.text(1),
      environment: try row.environment(2),
      signInCallback: row.optionalText(4).map { .redirect(url: $0) } ?? .postMessage,
      allowedOrigins: Set(row.text(5).split(separator: " ").map(String.init)),
      created: Timestamp(milliseconds: row.integer(6)),
      revoked: row.optionalInteger(7).map { Timestamp(milliseconds: $0) })
  }
}
