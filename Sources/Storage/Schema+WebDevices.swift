extension Schema {
  /// Where browsers and programs are sent their notifications.
  static let webDevices = [
    "ALTER TABLE device_tokens ADD COLUMN endpoint_url TEXT",
    "ALTER TABLE device_tokens ADD COLUMN endpoint_secrets BYTEA",
  ]
}
