/// The data that a sync engine keeps from one process to the next, as far as the app stores it.
struct SyncState: Sendable {
  var user: String?
  var databaseToken: String?
  /// The zones of the database, each with the token of its feed; nil before the zone's first page.
  var zones: [CKRecordZone.ID: String?] = [:]
  /// The zones whose changes are not fetched yet, in the order in which they were noted.
  private(set) var unfetchedZones = UniqueList<CKRecordZone.ID>()
  var recordChanges = PendingChanges<CKSyncEngine.PendingRecordZoneChange>()
  var databaseChanges = PendingChanges<CKSyncEngine.PendingDatabaseChange>()
  /// Whether the app has changes that are not in the lists.
  var hasPendingUntrackedChanges = false
  var subscriptionID: String?

  mutating func noteChanges(in zoneID: CKRecordZone.ID) {
    if zones[zoneID] == nil { zones.updateValue(nil, forKey: zoneID) }
    unfetchedZones.append(zoneID)
  }

  mutating func noteFetched(_ zoneID: CKRecordZone.ID) {
    unfetchedZones.remove(zoneID)
  }

  /// Forgets a zone that was deleted. Its pending changes stay.
  mutating func forget(_ zoneID: CKRecordZone.ID) {
    zones[zoneID] = nil
    noteFetched(zoneID)
  }
}

// MARK: Coding

extension SyncState: Codable {
  /// The keys of the encoded members.
  private enum Key: String, CodingKey {
    case user, databaseToken, zones, unfetchedZones, recordChanges, databaseChanges
    case hasPendingUntrackedChanges, subscriptionID
  }

  /// A zone with the token of its feed.
  private struct StoredZone: Codable {
    var zoneName: String
    var ownerName: String
    var token: String?

    init(_ zoneID: CKRecordZone.ID, token: String? = nil) {
      zoneName = zoneID.zoneName
      ownerName = zoneID.ownerName
      self.token = token
    }

    /// Throws `dataCorrupted` for an empty name.
    func zoneID(in container: KeyedDecodingContainer<Key>, _ key: Key) throws -> CKRecordZone.ID {
      guard !zoneName.isEmpty, !ownerName.isEmpty else {
        throw DecodingError.dataCorruptedError(
          forKey: key, in: container, debugDescription: "the name of a zone is empty")
      }
      return CKRecordZone.ID(zoneName: zoneName, ownerName: ownerName)
    }
  }

  /// Changes of records that stand one after the other: all of one zone, and all saves or all deletions.
  /// An app stores the state several times a second, and a state can have many changes.
  private struct StoredRecordChanges: Codable {
    var zone: StoredZone
    var isDeletion: Bool
    var recordNames: [String]

    static func runs(of changes: [CKSyncEngine.PendingRecordZoneChange]) -> [Self] {
      var runs: [Self] = []
      var last: (zoneID: CKRecordZone.ID, isDeletion: Bool)?
      for change in changes {
        let zoneID = change.target.zoneID
        if let last, last.isDeletion == change.isDeletion, last.zoneID == zoneID {
          runs[runs.count - 1].recordNames.append(change.target.recordName)
        } else {
          runs.append(
            Self(
              zone: StoredZone(zoneID), isDeletion: change.isDeletion,
              recordNames: [change.target.recordName]))
          last = (zoneID, change.isDeletion)
        }
      }
      return runs
    }
  }

  /// A pending change of a zone.
  private struct StoredZoneChange: Codable {
    var zone: StoredZone
    var isDeletion: Bool
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    user = try container.decodeIfPresent(String.self, forKey: .user)
    databaseToken = try container.decodeIfPresent(String.self, forKey: .databaseToken)
    for zone in try container.decode([StoredZone].self, forKey: .zones) {
      zones.updateValue(zone.token, forKey: try zone.zoneID(in: container, .zones))
    }
    for zone in try container.decode([StoredZone].self, forKey: .unfetchedZones) {
      noteChanges(in: try zone.zoneID(in: container, .unfetchedZones))
    }
    for run in try container.decode([StoredRecordChanges].self, forKey: .recordChanges) {
      let zoneID = try run.zone.zoneID(in: container, .recordChanges)
      for recordName in run.recordNames {
        guard !recordName.isEmpty else {
          throw DecodingError.dataCorruptedError(
            forKey: .recordChanges, in: container, debugDescription: "a record has no name")
        }
        let recordID = CKRecord.ID(recordName: recordName, zoneID: zoneID)
        recordChanges.add(run.isDeletion ? .deleteRecord(recordID) : .saveRecord(recordID))
      }
    }
    for change in try container.decode([StoredZoneChange].self, forKey: .databaseChanges) {
      let zoneID = try change.zone.zoneID(in: container, .databaseChanges)
      databaseChanges.add(
        change.isDeletion ? .deleteZone(zoneID) : .saveZone(CKRecordZone(zoneID: zoneID)))
    }
    hasPendingUntrackedChanges = try container.decode(
      Bool.self, forKey: .hasPendingUntrackedChanges)
    subscriptionID = try container.decodeIfPresent(String.self, forKey: .subscriptionID)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encodeIfPresent(user, forKey: .user)
    try container.encodeIfPresent(databaseToken, forKey: .databaseToken)
    try container.encode(zones.map { StoredZone($0, token: $1) }, forKey: .zones)
    try container.encode(unfetchedZones.map { StoredZone($0) }, forKey: .unfetchedZones)
    try container.encode(
      StoredRecordChanges.runs(of: recordChanges.unsent), forKey: .recordChanges)
    try container.encode(
      databaseChanges.unsent.map {
        StoredZoneChange(zone: StoredZone($0.target), isDeletion: $0.isDeletion)
      }, forKey: .databaseChanges)
    try container.encode(hasPendingUntrackedChanges, forKey: .hasPendingUntrackedChanges)
    try container.encodeIfPresent(subscriptionID, forKey: .subscriptionID)
  }
}
