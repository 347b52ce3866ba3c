import StoreModel

/// The store's tables.
///
/// Every table that grows with the data has `database_id` first in its primary key. All numbers of
/// a database (zones, records, changes, log entries, deliveries) are drawn from its `last_number`,
/// so each is used once. `/*clustered*/` marks tables whose rows are best stored in the order of
/// their primary key; `/*unlogged*/` marks those that need not survive a crash of the engine.
package enum Schema {
  /// The migrations in the order of their versions.
  ///
  /// A new store starts with the first of them. Stores of earlier schema versions were made by
  /// unreleased programs and are refused.
  package static let migrations = [
    Migration(
      version: 37,
      statements: [
        CounterTable.definition, DatabaseTable.definition, SubscriberDatabaseTable.definition,
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
        NotificationLogTable.definition, NotificationMarkTable.definition,
        NotificationIndexTable.definition, DeviceTable.definition, CourierCursorTable.definition,
        PushRouteTable.definition, DeliveryTable.definition, RefusedPushTable.definition,
        SharedLimitTable.definition,
      ].flatMap(\.self), fill: SecretTable.makeClientSecret),
    Migration(
      version: 38,
      statements: [
        HierarchyTable.definition, ShareTable.definition, ParticipantTable.definition,
        ShareLinkTable.definition,
      ].flatMap(\.self), fill: HierarchyTable.fill),
  ]

  /// A store's schema version after all migrations.
  package static var newestVersion: Int64 { migrations.last?.version ?? 0 }

  /// The oldest schema version that this program migrates.
  package static var oldestVersion: Int64 { migrations.first?.version ?? 0 }

  /// Refuses a store of a schema version that this program does not know.
  ///
  /// - Parameter place: the store's location, as in "the store at …".
  /// - Throws: ``StoreError/Code/newerSchema`` or ``StoreError/Code/olderSchema``.
  package static func checkIsKnown(_ version: Int64, at place: String) throws {
    try checkIsNotTooOld(version, at: " at \(place)")
    guard version <= newestVersion else {
      throw StoreError(
        .newerSchema,
        "the store at \(place) has schema version \(version), written by a newer Petrel; this one knows versions up to "
          + "\(newestVersion). Use the newer program")
    }
  }

  /// Refuses a store from before the first release.
  ///
  /// - Parameters:
  ///   - version: the store's version; 0 for a store without one.
  ///   - place: a part of the error's text, such as " at /var/petrel/store.sqlite"; empty for none.
  /// - Throws: ``StoreError/Code/olderSchema``.
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
