import SQLEngine
import StoreModel

/// The location of a store's tables in PostgreSQL, as three identifiers.
///
/// A server stores it in the comment of the table `schema_version`, which a dump (`pg_dump`)
/// includes. If the actual location differs, the store is a restored copy, which may be older than
/// the state that devices know.
///
/// A base backup and a promoted standby keep the identifiers, so this check does not detect them.
package struct ServedLocation: Hashable, Sendable {
  /// The identifier that `initdb` gave the PostgreSQL cluster; nil if this user may not read it.
  var cluster: Int64?
  /// The database's identifier, unique in the cluster only.
  var database: Int64
  /// The object identifier of `schema_version`.
  var table: Int64

  /// The start of a comment with a location. Other comments are ignored.
  private static let prefix = "Petrel serves the store from here:"

  static func actual(_ connection: any SQLConnection) throws -> ServedLocation {
    let canReadCluster = try connection.integer(
      "SELECT has_function_privilege('pg_control_system()', 'EXECUTE')", [])
    var place = ServedLocation(cluster: nil, database: 0, table: 0)
    if canReadCluster == 1 {
      place.cluster = try connection.integer(
        "SELECT system_identifier FROM pg_control_system()", [])
    }
    let numbers = try connection.first(
      """
      SELECT oid::int8, 'schema_version'::regclass::oid::int8 FROM pg_database
      WHERE datname = current_database()
      """, []
    ) { ($0.integer(0), $0.integer(1)) }
    (place.database, place.table) = numbers ?? (0, 0)
    return place
  }

  static func noted(_ connection: any SQLConnection) throws -> ServedLocation? {
    try connection.first(
      "SELECT COALESCE(obj_description(to_regclass('schema_version'), 'pg_class'), '')", []
    ) { ServedLocation(comment: $0.text(0)) } ?? nil
  }

  func matches(_ other: ServedLocation) -> Bool {
    (database, table) == (other.database, other.table)
      && (cluster == nil || other.cluster == nil || cluster == other.cluster)
  }

  /// Succeeds if no server has served the store yet.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` if the tables were copied to another place.
  package static func check(_ connection: any SQLConnection) throws {
    guard let noted = try noted(connection) else { return }
    let actual = try actual(connection)
    guard !actual.matches(noted) else { return }
    throw StoreError(
      .cannotOpen,
      "the store is a copy: its tables (\(actual)) are not those that Petrel served last "
        + "(\(noted)). Run 'petrel store restored', so that devices read all data again. If "
        + "the copy has all acknowledged changes, as after an upgrade of PostgreSQL, run "
        + "'petrel store restored --nothing-lost'")
  }

  /// Only the owner of the table may store the location. For another user, the method does nothing
  /// if no location or a matching one is stored.
  ///
  /// - Throws: ``StoreError`` if another location is stored and this user may not replace it.
  package static func note(_ connection: any SQLConnection) throws {
    let (noted, actual) = (try noted(connection), try actual(connection))
    guard noted != actual else { return }
    let isOwner = try connection.integer(
      "SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = 'schema_version'::regclass",
      [])
    let isElsewhere = noted.map { !actual.matches($0) } ?? false
    guard isOwner == 1 || isElsewhere else { return }
    // This kind of statement takes no arguments. The text contains only fixed words and numbers.
    try connection.execute("COMMENT ON TABLE schema_version IS '\(actual.comment)'")
  }
}

extension ServedLocation: CustomStringConvertible {
  /// Such as `cluster 7412087642110324812, database 16384, table 16391`.
  package var description: String {
    let numbers = [("cluster", cluster), ("database", database), ("table", table)]
    return numbers.compactMap { name, number in number.map { "\(name) \($0)" } }
      .joined(separator: ", ")
  }

  var comment: String { "\(Self.prefix) \(self)" }

  init?(comment: String) {
    guard comment.hasPrefix(Self.prefix + " ") else { return nil }
    var numbers: [Substring: Int64] = [:]
    for part in comment.dropFirst(Self.prefix.count + 1).split(separator: ", ") {
      let words = part.split(separator: " ")
      guard words.count == 2, let number = Int64(words[1]) else { return nil }
      numbers[words[0]] = number
    }
    guard let database = numbers["database"], let table = numbers["table"] else { return nil }
    self.init(cluster: numbers["cluster"], database: database, table: table)
  }
}
