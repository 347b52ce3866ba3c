import CloudKitModel
import StoreModel
import Testing

@testable import Storage

extension StoreEngine {
  func withStore(
    keepingDeletionsFor seconds: Double, _ body: (TestStore) async throws -> Void
  ) async throws {
    let configure = { (configuration: inout StoreConfiguration) in
      configuration.deletionRetention = seconds
    }
    try await withStore(configure: configure, body)
  }
}

extension TestStore {
  /// A page of a zone's feed in the private database.
  func changes(
    in zone: ZoneID, since token: String? = nil, limit: Int = 200, sizeLimit: Int = .max,
    isReversed: Bool = false, types: Set<String>? = nil
  ) async throws -> RecordChangesPage {
    try await store.changeFeeds.recordChanges(
      matching: RecordChangesQuery(
        zoneID: zone, token: token, limit: limit, sizeLimit: sizeLimit, isReversed: isReversed,
        recordTypes: types), in: privateID)
  }

  /// All of a zone's feed in the private database, as one page of any length.
  func allChanges(in zone: ZoneID) async throws -> RecordChangesPage {
    var all = try await changes(in: zone)
    while all.hasMore {
      let page = try await changes(in: zone, since: all.token)
      all.changes += page.changes
      all.size += page.size
      (all.token, all.hasMore) = (page.token, page.hasMore)
    }
    return all
  }

  /// A page of the private database's feed.
  func zoneChanges(
    since token: String? = nil, limit: Int = 200, in database: DatabaseID? = nil
  ) async throws -> ZoneChangesPage {
    try await store.changeFeeds.zoneChanges(
      since: token, limit: limit, in: database ?? privateID, timestamp: Self.time(0))
  }
}

extension RecordChangesPage {
  /// The records' names; those of deleted ones with `-` before and the type behind.
  var names: [String] {
    changes.map {
      switch $0 {
      case .saved(let record): record.recordID.recordName
      case .deleted(let recordID, let type): "-\(recordID.recordName) \(type)"
      }
    }
  }
}

extension ZoneChangesPage {
  /// The zones' names; those of deleted ones with `-` before.
  var names: [String] {
    changes.map {
      switch $0 {
      case .changed(let zoneID): zoneID.zoneName
      case .deleted(let zoneID), .purged(let zoneID): "-\(zoneID.zoneName)"
      }
    }
  }
}

extension RecordChange {
  var record: Record? {
    if case .saved(let record) = self { return record }
    return nil
  }

  var recordID: RecordID {
    switch self {
    case .saved(let record): record.recordID
    case .deleted(let recordID, _): recordID
    }
  }
}

/// The failure that `body` throws, or a failed expectation.
func itemFailure(
  _ body: () async throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
) async -> ItemFailure.Code? {
  do {
    try await body()
    Issue.record("nothing was thrown", sourceLocation: sourceLocation)
  } catch let failure as ItemFailure {
    return failure.code
  } catch {
    Issue.record(error, sourceLocation: sourceLocation)
  }
  return nil
}
