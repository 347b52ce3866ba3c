import CloudKitModel
import StoreModel

/// Brings the mounts of a shared database up to date with the user's shares. The feed is read
/// afterwards, so it has all that was acknowledged before the request.
struct MountUpdate {
  private let shared: SharedDatabase
  private let database: DatabaseID
  /// The user's zones whose mounts are missing or older.
  private var changed: [(zone: SharedZone, version: Int64, mount: MountTable.Mount?)] = []
  private var ended: [MountTable.Mount] = []

  var isEmpty: Bool { changed.isEmpty && ended.isEmpty }

  /// - Complexity: a few statements for each share of the user.
  init(of shared: SharedDatabase, _ database: DatabaseID) throws {
    self.shared = shared
    self.database = database
    let mounts = try MountTable(transaction: shared.transaction).mounts(in: database)
    let known = Dictionary(mounts.map { ($0.zoneID, $0) }, uniquingKeysWith: { first, _ in first })
    let zones = try shared.zones()
    for zone in zones {
      let version = try zone.visibleVersion()
      let mount = known[zone.zoneID]
      if let mount, mount.database == zone.database, mount.ownerZone == zone.number,
        mount.seenVersion >= version
      {
        continue
      }
      changed.append((zone, version, mount))
    }
    let present = Set(zones.map(\.zoneID))
    ended = mounts.filter { !present.contains($0.zoneID) }
  }

  /// Needs the lock of the shared database. The retention of deleted zones counts from
  /// `timestamp`.
  func write(at timestamp: Timestamp) throws {
    let transaction = shared.transaction
    let zones = ZoneTable(transaction: transaction)
    let tombstones = ZoneTombstoneTable(transaction: transaction)
    let mounts = MountTable(transaction: transaction)
    let databases = DatabaseTable(transaction: transaction)
    for mount in ended {
      try mounts.remove(mount.number, of: database)
      try zones.remove(mount.number, in: database)
      try tombstones.remember(
        deletionOf: mount.zoneID, isPurge: false, in: database,
        version: try databases.nextNumber(of: database), at: timestamp)
    }
    for (zone, version, mount) in changed {
      var number = mount?.number ?? 0
      if mount == nil {
        try tombstones.forgetDeletion(of: zone.zoneID, in: database)
        number = try zones.add(zone.zoneID, in: database).version
      } else {
        zones.raise(try databases.nextNumber(of: database), of: number, in: database)
      }
      try mounts.save(
        MountTable.Mount(
          number: number, zoneID: zone.zoneID, database: zone.database, ownerZone: zone.number,
          seenVersion: version), in: database)
    }
  }
}

extension SharedZone {
  /// The latest change of what the participant sees, by the sequence of the owner's database. An
  /// acceptance and a removal count.
  ///
  /// - Complexity: two statements for each share of a hierarchy.
  func visibleVersion() throws -> Int64 {
    var version = try ParticipantTable(transaction: transaction).latestChange(
      of: naming.participant, inZone: number, of: database)
    for membership in memberships {
      guard let root = membership.root else {
        let state = try ZoneTable(transaction: transaction).state(
          of: ZoneID(zoneName: zoneName), in: database)
        return max(version, state?.version ?? 0)
      }
      let changed = try HierarchyTable(transaction: transaction).latest(
        below: root, inZone: number, of: database)
      let departed = try DepartureTable(transaction: transaction).latest(
        below: root, inZone: number, of: database)
      version = max(version, changed ?? 0, departed ?? 0)
    }
    return version
  }
}
