extension Schema {
  /// Users with their names and addresses, what they permit apps to do, and their web auth tokens, of which
  /// those of a session give way to successors.
  static let users = [
    """
    CREATE TABLE users (
      name TEXT PRIMARY KEY, user_record_name TEXT NOT NULL UNIQUE, created BIGINT NOT NULL,
      email TEXT, phone TEXT, name_prefix TEXT, given_name TEXT, middle_name TEXT,
      family_name TEXT, name_suffix TEXT, nickname TEXT)
    """,
    "CREATE UNIQUE INDEX users_by_email ON users (email)",
    "CREATE UNIQUE INDEX users_by_phone ON users (phone)",
    """
    CREATE TABLE application_permissions (
      container TEXT NOT NULL, environment TEXT NOT NULL, permission TEXT NOT NULL,
      user_record_name TEXT NOT NULL, status TEXT NOT NULL,
      PRIMARY KEY (container, environment, permission, user_record_name))
    """,
    """
    CREATE TABLE web_auth_tokens (
      hash BYTEA PRIMARY KEY, user_record_name TEXT NOT NULL, created BIGINT NOT NULL,
      expires BIGINT NOT NULL, session_id BYTEA, container TEXT, environment TEXT,
      lifetime BIGINT, used BIGINT)
    """,
    "CREATE INDEX web_auth_tokens_by_session ON web_auth_tokens (session_id, created)",
  ]
}
