import CloudKit

/// The records that the device keeps of both databases, with the change tokens up to which it has
/// read them.
struct LocalCopy: Codable {
  private var privateDatabase = DatabaseCopy()
  private var sharedDatabase = DatabaseCopy()

  /// Reads a file; a missing file is an empty copy.
  init(_ file: URL) throws {
    guard FileManager.default.fileExists(atPath: file.path) else { return }
    self = try JSONDecoder().decode(LocalCopy.self, from: Data(contentsOf: file))
  }

  func write(to file: URL) throws {
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try JSONEncoder().encode(self).write(to: file, options: .atomic)
  }

  /// The copy of the private or of the shared database.
  subscript(scope: CKDatabase.Scope) -> DatabaseCopy {
    get { scope == .shared ? sharedDatabase : privateDatabase }
    set { if scope == .shared { sharedDatabase = newValue } else { privateDatabase = newValue } }
  }

  /// Puts the lists of a database together from its records.
  func lists(in database: CKDatabase) -> [List] {
    self[database.databaseScope].zones.flatMap { zone in
      let records = zone.records.values.map(\.object)
      return records.filter { $0.recordType == List.recordType }.map { root in
        let items = records.filter { $0.parent?.recordID == root.recordID }
          .map { List.Item(record: $0, database: database) }.sorted { $0.text < $1.text }
        let share = root.share.flatMap { zone.records[$0.recordID.recordName]?.object as? CKShare }
        return List(database: database, root: root, items: items, share: share)
      }
    }
  }
}

/// The copy of a database, zone by zone.
struct DatabaseCopy: Codable {
  private(set) var zones: [ZoneCopy] = []
  private var token: Archived<CKServerChangeToken>?

  /// Fetches the changes since the last time. If the server no longer knows what changed since then,
  /// fetches everything.
  mutating func fetchChanges(from database: CKDatabase) async throws {
    do {
      try await fetchPages(from: database)
    } catch let error as CKError where error.code == .changeTokenExpired {
      self = DatabaseCopy()
      try await fetchPages(from: database)
    }
  }

  private mutating func fetchPages(from database: CKDatabase) async throws {
    var isMore = true
    while isMore {
      let changes = try await database.databaseChanges(since: token?.object)
      for deletion in changes.deletions { zones.removeAll { $0.zoneID.object == deletion.zoneID } }
      for modification in changes.modifications {
        try await fetchZone(modification.zoneID, from: database)
      }
      token = Archived(changes.changeToken)
      isMore = changes.moreComing
    }
  }

  private mutating func fetchZone(
    _ zoneID: CKRecordZone.ID, from database: CKDatabase
  ) async throws {
    var zone = zones.first { $0.zoneID.object == zoneID } ?? ZoneCopy(zoneID)
    do {
      try await zone.fetchChanges(from: database)
    } catch let error as CKError where error.code == .changeTokenExpired {
      zone = ZoneCopy(zoneID)
      try await zone.fetchChanges(from: database)
    }
    zones.removeAll { $0.zoneID.object == zoneID }
    zones.append(zone)
  }
}

/// The copy of a zone.
struct ZoneCopy: Codable {
  let zoneID: Archived<CKRecordZone.ID>
  /// The records by their names.
  private(set) var records: [String: Archived<CKRecord>] = [:]
  private var token: Archived<CKServerChangeToken>?

  init(_ zoneID: CKRecordZone.ID) {
    self.zoneID = Archived(zoneID)
  }

  /// Fetches the changes since the last time.
  mutating func fetchChanges(from database: CKDatabase) async throws {
    var isMore = true
    while isMore {
      let changes = try await database.recordZoneChanges(
        inZoneWith: zoneID.object, since: token?.object)
      for (recordID, result) in changes.modificationResultsByID {
        records[recordID.recordName] = Archived(try result.get().record)
      }
      for deletion in changes.deletions { records[deletion.recordID.recordName] = nil }
      token = Archived(changes.changeToken)
      isMore = changes.moreComing
    }
  }
}
