import StoreModel

/// The store's tables.
///
/// Most tables with the contents of databases have `database_id` first in their primary key. All
/// numbers in a database (those of zones, records, changes, log entries and deliveries) come from
/// one sequence, the column `last_number` of the table `databases`. So each number is used at most
/// once.
///
/// `/*clustered*/` marks a table whose rows are best stored in the order of the primary key.
/// `/*unlogged*/` marks a table whose rows need not survive a crash of the database server.
package enum Schema {
  /// The migrations in the order of their versions.
  ///
  /// A new store begins with the first migration. Only programs from before the first release made
  /// stores with earlier schema versions; such a store is refused.
  package static let migrations = [
    Migration(
      version: 45,
      statements: [
        CounterTable.definition, DatabaseTable.definition, ContainerTable.definition,
        SubscriberDatabaseTable.definition,
        StoreDistribution.definition, UserTable.definition, ApplicationPermissionTable.definition,
        WebAuthTokenTable.definition, UserDeletionTable.definition, PasswordTable.definition,
        UserIdentityTable.definition, APITokenTable.definition, ServerKeyTable.definition,
        TakenSignatureTable.definition, AdminKeyTable.definition, ConsoleSessionTable.definition,
        ZoneTable.definition, RecordTable.definition, TombstoneTable.definition,
        ValueIndexTable.definition, ReferenceTable.definition, RecordTable.versionIndex,
        TombstoneTable.versionIndex, ZoneTombstoneTable.definition,
        ClientChangeTokenTable.definition,
        SecretTable.definition, AssetUploadTable.definition, AssetTable.definition,
        AnsweredRequestTable.definition, RecordTypeTable.definition, RoleTable.definition,
        SubscriptionTypeTable.definition, IndexWorkTable.definition, SubscriptionTable.definition,
        OutboxTable.definition, DispatchTable.definition, ServerTable.definition,
        AnnouncementTable.definition, DispatchLeaseTable.definition, PartDispatchTable.definition,
        DeferredDispatchTable.definition,
        NotificationLogTable.definition, NotificationMarkTable.definition,
        NotificationIndexTable.definition, DeviceTable.definition, CourierCursorTable.definition,
        PushRouteTable.definition, DeliveryTable.definition, RefusedPushTable.definition,
        SharedLimitTable.definition, HierarchyTable.definition, ShareTable.definition,
        ParticipantTable.definition, ShareRequestTable.definition, ShareLinkTable.definition,
        DepartureTable.definition, MountTable.definition, ForwardTable.definition,
      ].flatMap(\.self), fill: SecretTable.makeClientSecret)
  ]

  /// A store's schema version after all migrations.
  package static var newestVersion: Int64 { migrations.last?.version ?? 0 }

  /// The oldest schema version that this program can migrate.
  package static var oldestVersion: Int64 { migrations.first?.version ?? 0 }

  /// Checks that this program knows a store's schema version.
  ///
  /// - Parameters:
  ///   - version: the store's version; 0 for a store without a version.
  ///   - place: the store's location, which follows "the store at" in the error's text.
  /// - Throws: ``StoreError/Code/newerSchema`` if the version is later than ``newestVersion``,
  ///   ``StoreError/Code/olderSchema`` if it is earlier than ``oldestVersion``.
  package static func checkIsKnown(_ version: Int64, at place: String) throws {
    try checkIsNotTooOld(version, at: " at \(place)")
    guard version <= newestVersion else {
      throw StoreError(
        .newerSchema,
        "the store at \(place) has schema version \(version), written by a newer Petrel; this one knows versions up to "
          + "\(newestVersion). Use the newer program")
    }
  }

  /// Checks that a store is not from before the first release.
  ///
  /// - Parameters:
  ///   - version: the store's version; 0 for a store without a version.
  ///   - place: the text that follows "the store" in the error, such as " at
  ///     /var/petrel/store.sqlite"; empty by default.
  /// - Throws: ``StoreError/Code/olderSchema`` if the version is earlier than ``oldestVersion``.
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
