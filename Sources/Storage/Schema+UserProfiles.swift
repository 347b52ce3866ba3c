extension Schema {
  /// Names and addresses of users, and what they permit apps to do.
  static let userProfiles =
    [
      "email", "phone", "name_prefix", "given_name", "middle_name", "family_name", "name_suffix",
      "nickname",
    ].map { "ALTER TABLE users ADD COLUMN \($0) TEXT" } + [
      "CREATE UNIQUE INDEX users_by_email ON users (email)",
      "CREATE UNIQUE INDEX users_by_phone ON users (phone)",
      """
      CREATE TABLE application_permissions (
        container TEXT NOT NULL, environment TEXT NOT NULL, permission TEXT NOT NULL,
        user_record_name TEXT NOT NULL, status TEXT NOT NULL,
        PRIMARY KEY (container, environment, permission, user_record_name))
      """,
    ]
}
