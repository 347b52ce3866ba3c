extension Schema {
  /// The devices of users, by the tokens they are sent to with, and those that are gone, for those who ask
  /// why a push came or did not.
  ///
  /// A delivery has its device's number and not its token, which is long, and would stand in the row and in
  /// an index. A token keeps its number when it changes hands and when its device is gone, for as long as
  /// deliveries to it and `gone_devices` are kept. A number is never given twice.
  ///
  /// `first_registered` is when the user's device was registered after it was not: `registered` is when it
  /// was last.
  ///
  /// The index gives a user's devices in order: an engine that has to sort them may rather walk all devices.
  ///
  /// `courier_cursors` has how far a reader of the web courier has acknowledged, and what it was given last
  /// and has not acknowledged yet, where its polls may go to several servers: the entry's sequence, and
  /// whether it counts for the badge.
  static let devices = [
    """
    CREATE TABLE device_tokens (
      kind TEXT NOT NULL, token TEXT NOT NULL, container TEXT NOT NULL,
      environment TEXT NOT NULL, apns_environment TEXT NOT NULL, user_record_name TEXT NOT NULL,
      device_id TEXT, first_registered BIGINT NOT NULL, registered BIGINT NOT NULL,
      expires BIGINT, badge BIGINT NOT NULL,
      endpoint_url TEXT, endpoint_secrets BYTEA, PRIMARY KEY (kind, token))
    """,
    "CREATE INDEX device_tokens_by_user ON device_tokens (user_record_name, kind, token)",
    """
    CREATE TABLE device_numbers (device BIGINT PRIMARY KEY, token TEXT NOT NULL UNIQUE) /*clustered*/
    """,
    """
    CREATE TABLE gone_devices (
      user_record_name TEXT NOT NULL, kind TEXT NOT NULL, token TEXT NOT NULL,
      container TEXT NOT NULL, environment TEXT NOT NULL, apns_environment TEXT NOT NULL,
      device_id TEXT, first_registered BIGINT NOT NULL, gone BIGINT NOT NULL, reason TEXT NOT NULL,
      PRIMARY KEY (user_record_name, kind, token, first_registered))
    """,
    "CREATE INDEX gone_devices_by_time ON gone_devices (gone)",
    "CREATE INDEX gone_devices_by_token ON gone_devices (token)",
    """
    CREATE TABLE courier_cursors (
      database_id BIGINT NOT NULL, token TEXT NOT NULL, sequence BIGINT NOT NULL, answered BIGINT,
      answered_badge BIGINT, PRIMARY KEY (database_id, token))
    """,
  ]
}
