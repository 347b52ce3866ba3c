import SQLEngine
import StoreModel

/// The store's tables.
///
/// Most tables with the contents of databases have `database_id` first in their primary key. All
/// numbers in a database (those of zones, records, changes, log entries and deliveries) come from
/// one sequence, the column `last_number` of the table `databases`. So each number is used at most
/// once. `/*clustered*/` marks a table whose rows are best stored in the order of the primary key.
/// `/*unlogged*/` marks one whose rows need not survive a crash of the database server.
package enum Schema {
  static let tables: [any Table.Type] = [
    CounterTable.self, DatabaseTable.self, ContainerTable.self, SubscriberDatabaseTable.self,
    UserTable.self, ApplicationPermissionTable.self, WebAuthTokenTable.self,
    UserDeletionTable.self, PasswordTable.self, UserIdentityTable.self, APITokenTable.self,
    ServerKeyTable.self, TakenSignatureTable.self, AdminKeyTable.self, ConsoleSessionTable.self,
    ZoneTable.self, RecordTable.self, TombstoneTable.self, ValueIndexTable.self,
    ReferenceTable.self, ZoneTombstoneTable.self, ClientChangeTokenTable.self, SecretTable.self,
    AssetUploadTable.self, AssetTable.self, AnsweredRequestTable.self, RecordTypeTable.self,
    RoleTable.self, SubscriptionTypeTable.self, IndexWorkTable.self, SubscriptionTable.self,
    OutboxTable.self, DispatchTable.self, ServerTable.self, AnnouncementTable.self,
    DispatchLeaseTable.self, PartDispatchTable.self, DeferredDispatchTable.self,
    NotificationLogTable.self, NotificationMarkTable.self, NotificationIndexTable.self,
    DeviceTable.self, CourierCursorTable.self, PushRouteTable.self, DeliveryTable.self,
    RefusedPushTable.self, SharedLimitTable.self, HierarchyTable.self, ShareTable.self,
    ParticipantTable.self, ShareRequestTable.self, ShareLinkTable.self, DepartureTable.self,
    MountTable.self, ForwardTable.self,
  ]

  /// The names of all tables, for ``StatementGate``: first those of ``WriteSet/Table``.
  static let tableNames: [String] = {
    let first = WriteSet.Table.allCases.map(\.name)
    let names = migrations.flatMap(\.statements).compactMap { statement in
      statement.firstRange(of: " TABLE ").map {
        String(statement[$0.upperBound...].prefix { !$0.isWhitespace })
      }
    }
    return first + names.filter { !first.contains($0) }
  }()

  /// A new store begins with the first migration. Only programs from before the first release made
  /// stores with earlier schema versions; such a store is refused.
  package static let migrations = [
    Migration(
      version: 45,
      statements: tables.flatMap { $0.definition } + StoreDistribution.definition,
      fill: SecretTable.makeClientSecret)
  ]

  package static var newestVersion: Int64 { migrations.last?.version ?? 0 }

  package static var oldestVersion: Int64 { migrations.first?.version ?? 0 }

  /// Throws ``StoreError/Code/newerSchema`` or ``StoreError/Code/olderSchema`` for a version that
  /// this program does not know.
  ///
  /// - Parameters:
  ///   - version: the store's version; 0 for a store without a version.
  ///   - place: follows "the store at" in the error's text.
  package static func checkIsKnown(_ version: Int64, at place: String) throws {
    try checkIsNotTooOld(version, at: " at \(place)")
    guard version <= newestVersion else {
      throw StoreError(
        .newerSchema,
        "the store at \(place) has schema version \(version), written by a newer Petrel; this one knows versions up to "
          + "\(newestVersion). Use the newer program")
    }
  }

  static func checkIsNotTooOld(_ version: Int64, at place: String = "") throws {
    guard version >= oldestVersion else {
      throw StoreError(
        .olderSchema,
        "the store\(place) has \(version == 0 ? "no schema version" : "schema version \(version)"): a "
          + "Petrel from before the first release created it. This one knows versions from "
          + "\(oldestVersion) on. Start with an empty data directory, or use the older program"
      )
    }
  }
}

/// A type that has all SQL on some tables.
///
/// ``Schema/tables`` lists the types. Each statement is a stored property of ``sql``, or of a
/// property of it. A test therefore finds all statements by reflection, and a statement that is in
/// use is checked. The statements of a file `Type+Aspect.swift` are in a type of their own there.
/// Times are in milliseconds since 1970, in columns and as `Int64`.
protocol Table: SendableMetatype {
  associatedtype Statements: Sendable
  /// Creates the tables and their indexes, in PostgreSQL's dialect.
  static var definition: [String] { get }
  /// A join is with the table whose rows it returns.
  static var sql: Statements { get }
  var transaction: StoreTransaction { get }
}

extension Table {
  var connection: any SQLConnection { transaction.connection }
  var sql: Statements { Self.sql }

  /// See ``StoreTransaction/decide(_:_:)``.
  func decide(_ statement: Statement, _ arguments: [SQLValue]) throws {
    try transaction.decide(statement, arguments)
  }
}
