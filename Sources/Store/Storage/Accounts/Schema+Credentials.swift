extension Schema {
  /// API tokens and server-to-server keys: small tables that every node knows. Those that are
  /// revoked stay, for a container that once asked for a token goes on asking.
  static let programCredentials = [
    """
    CREATE TABLE api_tokens (
      hash BYTEA PRIMARY KEY, container TEXT NOT NULL, environment TEXT NOT NULL,
      name TEXT NOT NULL, redirect_url TEXT, allowed_origins TEXT NOT NULL,
      created BIGINT NOT NULL, revoked BIGINT)
    """,
    "CREATE INDEX api_tokens_by_container ON api_tokens (container, environment)",
    """
    CREATE TABLE server_keys (
      key_id TEXT PRIMARY KEY, container TEXT NOT NULL, environment TEXT NOT NULL,
      name TEXT NOT NULL, public_key TEXT NOT NULL, user_record_name TEXT NOT NULL UNIQUE,
      created BIGINT NOT NULL, revoked BIGINT, UNIQUE (container, environment, public_key))
    """,
    """
    CREATE TABLE taken_signatures (
      key_id TEXT NOT NULL, signature BYTEA NOT NULL, expires BIGINT NOT NULL,
      PRIMARY KEY (key_id, signature)) /*clustered*/
    """,
    "CREATE INDEX taken_signatures_by_end ON taken_signatures (expires)",
  ]
}
