import CloudKitModel

extension Schema {
  /// Schemas: types and fields, what fields may be searched by, roles and grants, subscription types, and
  /// the indexes that are being built. Small tables that every node knows.
  ///
  /// A type that was dropped keeps its row and number: deletions in change feeds may name it.
  static let containerSchemas = [
    """
    CREATE TABLE record_types (
      type_number BIGINT PRIMARY KEY, container TEXT NOT NULL, environment TEXT NOT NULL,
      name TEXT NOT NULL, dropped BIGINT NOT NULL DEFAULT 0,
      UNIQUE (container, environment, name))
    """,
    """
    CREATE TABLE record_fields (
      field_number BIGINT PRIMARY KEY, type_number BIGINT NOT NULL, name TEXT NOT NULL,
      value_type TEXT NOT NULL, indexes BIGINT NOT NULL DEFAULT 0, UNIQUE (type_number, name))
    """,
    """
    CREATE TABLE system_field_indexes (
      type_number BIGINT NOT NULL, name TEXT NOT NULL, indexes BIGINT NOT NULL,
      PRIMARY KEY (type_number, name))
    """,
    """
    CREATE TABLE record_type_grants (
      type_number BIGINT NOT NULL, role TEXT NOT NULL, permissions BIGINT NOT NULL,
      PRIMARY KEY (type_number, role))
    """,
    """
    CREATE TABLE security_roles (
      container TEXT NOT NULL, environment TEXT NOT NULL, name TEXT NOT NULL,
      PRIMARY KEY (container, environment, name))
    """,
    """
    CREATE TABLE role_members (
      container TEXT NOT NULL, environment TEXT NOT NULL, user_record_name TEXT NOT NULL,
      role TEXT NOT NULL, PRIMARY KEY (container, environment, user_record_name, role))
    """,
  ]
}
