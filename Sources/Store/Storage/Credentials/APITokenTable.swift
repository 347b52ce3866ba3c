import CloudKitModel
import SQLEngine
import StoreModel

/// The API tokens of containers. The table is small, so each node of a distributed store has a copy
/// (``StoreDistribution``). Revoked tokens stay, because a container that once required a token
/// continues to require one.
struct APITokenTable: Table {
  let transaction: StoreTransaction

  /// `hash` is the SHA-256 of the token's text, which the store does not have. `redirect_url` is
  /// null if the sign-in page sends its result by `postMessage`. `allowed_origins` has web origins,
  /// separated by spaces, or is empty for all.
  static let definition = [
    """
    CREATE TABLE api_tokens (
      hash BYTEA PRIMARY KEY, container TEXT NOT NULL, environment TEXT NOT NULL,
      name TEXT NOT NULL, redirect_url TEXT, allowed_origins TEXT NOT NULL,
      created BIGINT NOT NULL, revoked BIGINT)
    """,
    "CREATE INDEX api_tokens_by_container ON api_tokens (container, environment)",
  ]

  func tokens(container: String, environment: ContainerEnvironment) throws -> [APIToken] {
    try connection.rows(
      sql.ofContainer, [.text(container), .text(environment.rawValue)], APIToken.init(row:))
  }

  func tokens() throws -> [APIToken] {
    try connection.rows(sql.all, [], APIToken.init(row:))
  }

  func add(_ token: APIToken) throws {
    var redirectURL: String?
    if case .redirect(let url) = token.signInCallback { redirectURL = url }
    try decide(
      sql.add,
      [
        .bytes(token.hash), .text(token.container), .text(token.environment.rawValue),
        .text(token.name), SQLValue(redirectURL),
        .text(token.allowedOrigins.sorted().joined(separator: " ")), .time(token.created),
        SQLValue(token.revoked?.milliseconds),
      ])
  }

  func revoke(tokenWithHash hash: [UInt8], at timestamp: Timestamp) throws -> Bool {
    try connection.run(sql.revoke, [.bytes(hash), .time(timestamp)]) == 1
  }

  struct Statements {
    let ofContainer: Statement =
      "\(APIToken.selection) WHERE container = $1 AND environment = $2 ORDER BY created, hash"
    let all = Statement(
      APIToken.selection + " ORDER BY container, environment, created, hash", .wholeTable)
    let add: Statement = """
      INSERT INTO api_tokens
        (hash, container, environment, name, redirect_url, allowed_origins, created, revoked)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
      """
    let revoke: Statement = "UPDATE api_tokens SET revoked = $2 WHERE hash = $1 AND revoked IS NULL"
  }
  static let sql = Statements()
}

extension APIToken {
  fileprivate static let selection = """
    SELECT hash, container, environment, name, redirect_url, allowed_origins, created, revoked
    FROM api_tokens
    """

  fileprivate init(row: any SQLRow) throws {
    self.init(
      hash: row.bytes(0), name: row.text(3), container: row.text(1),
      environment: try row.environment(2),
      signInCallback: row.optionalText(4).map { .redirect(url: $0) } ?? .postMessage,
      allowedOrigins: Set(row.text(5).split(separator: " ").map(String.init)), created: row.time(6),
      revoked: row.optionalTime(7))
  }
}
