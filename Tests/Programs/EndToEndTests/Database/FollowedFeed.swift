import CloudKit

/// The arguments of the blocks of a fetch of zone changes.
struct FollowedFeed: Sendable {
  struct ZoneResult: Sendable {
    var token: CKServerChangeToken
    var data: Data?
    var moreComing: Bool
  }

  /// By zone names, in order.
  var changed: [String: [String]] = [:]
  var records: [CKRecord.ID: CKRecord] = [:]
  /// With the types.
  var deleted: [CKRecord.ID: String] = [:]
  /// How often a token came, by zone names.
  var pages: [String: Int] = [:]
  var tokens: [String: CKServerChangeToken] = [:]
  var results: [String: ZoneResult] = [:]
  var errors: [String: CKError] = [:]
  var resultError: CKError?
  var completionError: CKError?
}

extension CKDatabase {
  /// Runs an operation.
  ///
  /// - Parameter onPage: called after each page of a zone.
  func changes(
    by operation: CKFetchRecordZoneChangesOperation, onPage: @escaping () -> Void = {}
  ) async -> FollowedFeed {
    let box = FeedBox()
    operation.recordWasChangedBlock = { recordID, result in
      box.feed.changed[recordID.zoneID.zoneName, default: []].append(recordID.recordName)
      box.feed.records[recordID] = try? result.get()
    }
    operation.recordWithIDWasDeletedBlock = { box.feed.deleted[$0] = $1 }
    let noteToken = { (zoneID: CKRecordZone.ID, token: CKServerChangeToken?) in
      box.feed.pages[zoneID.zoneName, default: 0] += 1
      box.feed.tokens[zoneID.zoneName] = token
      onPage()
    }
    operation.recordZoneChangeTokensUpdatedBlock = { zoneID, token, _ in noteToken(zoneID, token) }
    operation.recordZoneFetchResultBlock = { zoneID, result in
      switch result {
      case .success(let values):
        box.feed.results[zoneID.zoneName] = .init(
          token: values.serverChangeToken, data: values.clientChangeTokenData,
          moreComing: values.moreComing)
        noteToken(zoneID, values.serverChangeToken)
      case .failure(let error):
        box.feed.errors[zoneID.zoneName] = error as? CKError
      }
    }
    noteOldCompletion(of: operation, in: box)
    operation.fetchRecordZoneChangesResultBlock = { result in
      if case .failure(let error) = result { box.feed.resultError = error as? CKError }
    }
    return await withCheckedContinuation { continuation in
      operation.completionBlock = { continuation.resume(returning: box.feed) }
      add(operation)
    }
  }
}

/// The deprecated block, behind a protocol that does not warn.
private protocol OldCompletion: AnyObject {
  func setOldCompletion(_ block: @escaping ((any Error)?) -> Void)
}

extension CKFetchRecordZoneChangesOperation: OldCompletion {
  @available(*, deprecated)
  fileprivate func setOldCompletion(_ block: @escaping ((any Error)?) -> Void) {
    fetchRecordZoneChangesCompletionBlock = block
  }
}

private func noteOldCompletion(of operation: any OldCompletion, in box: FeedBox) {
  operation.setOldCompletion { box.feed.completionError = $0 as? CKError }
}

/// The blocks of an operation run one after the other, so nothing here is used by two at once.
private final class FeedBox: @unchecked Sendable {
  var feed = FollowedFeed()
}

/// An app's copy of a database: zones with their records, and the change tokens.
struct Copy {
  struct Zone {
    var records: [String: CKRecord] = [:]
    var token: CKServerChangeToken?
  }

  private(set) var zones: [CKRecordZone.ID: Zone] = [:]
  private(set) var deletedTypes: [String: String] = [:]
  /// The errors of the last ``follow(_:)``.
  private(set) var errors: [CKError] = []
  private var token: CKServerChangeToken?
  /// Zones that changed and were not fetched yet.
  private var changed: Set<CKRecordZone.ID> = []

  /// The names of the records, by zone names.
  var names: [String: [String]] {
    Dictionary(
      uniqueKeysWithValues: zones.map { ($0.key.zoneName, $0.value.records.keys.sorted()) })
  }

  /// Puts what comes back from an archive in the place of each token.
  mutating func relaunch(
    _ archivedAndBack: (CKServerChangeToken) throws -> CKServerChangeToken
  ) rethrows {
    token = try token.map(archivedAndBack)
    zones = try zones.mapValues { zone in
      Zone(records: zone.records, token: try zone.token.map(archivedAndBack))
    }
  }

  /// Does what apps do when a push comes: fetches the zones that changed, then their records. A
  /// zone whose token has expired is fetched anew the next time.
  mutating func follow(_ database: CKDatabase) async {
    errors = []
    let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: token)
    let box = ZonesBox()
    operation.recordZoneWithIDChangedBlock = { box.changed.append($0) }
    operation.recordZoneWithIDWasDeletedBlock = { box.deleted.append($0) }
    operation.fetchDatabaseChangesResultBlock = { box.result = $0.map(\.serverChangeToken) }
    await withCheckedContinuation { continuation in
      operation.completionBlock = { continuation.resume() }
      database.add(operation)
    }
    switch box.result {
    case .success(let token): self.token = token
    case .failure(let error): errors += [error as? CKError].compactMap { $0 }
    case nil: return
    }
    changed.formUnion(box.changed)
    for zoneID in box.deleted {
      zones[zoneID] = nil
      changed.remove(zoneID)
    }
    var configurations: [CKRecordZone.ID: CKFetchRecordZoneChangesOperation.ZoneConfiguration] = [:]
    for zoneID in changed {
      configurations[zoneID] = .init(previousServerChangeToken: zones[zoneID]?.token)
    }
    let feed = await database.changes(
      by: CKFetchRecordZoneChangesOperation(
        recordZoneIDs: Array(changed), configurationsByRecordZoneID: configurations))
    for (recordID, record) in feed.records {
      zones[recordID.zoneID, default: Zone()].records[recordID.recordName] = record
    }
    for (recordID, type) in feed.deleted {
      zones[recordID.zoneID]?.records[recordID.recordName] = nil
      deletedTypes[recordID.recordName] = type
    }
    for zoneID in changed {
      if let result = feed.results[zoneID.zoneName] {
        zones[zoneID, default: Zone()].token = result.token
      }
      if let error = feed.errors[zoneID.zoneName] {
        errors.append(error)
        zones[zoneID] = nil
      }
    }
    changed = changed.filter { feed.errors[$0.zoneName] != nil }
  }
}

/// The blocks of an operation run one after the other, so nothing here is used by two at once.
private final class ZonesBox: @unchecked Sendable {
  var changed: [CKRecordZone.ID] = []
  var deleted: [CKRecordZone.ID] = []
  var result: Result<CKServerChangeToken, any Error>?
}
