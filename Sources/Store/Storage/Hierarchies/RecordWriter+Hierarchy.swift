import CloudKitModel
import StoreModel

/// Changes of the places of records in the hierarchies of private databases.
extension RecordWriter {
  /// Without a change, only the version rises.
  func write(_ change: HierarchyChange?, of stored: StoredRecord, at version: Int64) throws {
    let table = HierarchyTable(transaction: transaction)
    guard let change else {
      if address.scope == .private, stored.record.isInHierarchy {
        try table.raise(version, of: stored.number, in: database)
      }
      return
    }
    let top = change.place?.top ?? stored.number
    if let before = change.topBefore, before != top {
      try noteDepartures(
        of: [stored.number] + change.moving, from: before, inZone: stored.zoneNumber, at: version)
    }
    if let place = change.place {
      try table.set(
        place, of: stored.number, at: version, inZone: stored.zoneNumber, of: database)
    } else {
      try table.remove(stored.number, of: database)
    }
    for descendant in change.moving {
      try table.set(top: top, of: descendant, at: version, in: database)
    }
  }

  /// If the record was in a shared hierarchy, the participants learn that it left. The record is
  /// still stored.
  func removePlace(of stored: StoredRecord, at version: Int64) throws {
    let table = HierarchyTable(transaction: transaction)
    guard let place = try table.place(of: stored.number, in: database) else { return }
    try noteDepartures(
      of: [stored.number], from: place.top, inZone: stored.zoneNumber, at: version)
    try table.remove(stored.number, of: database)
  }

  /// The records still have their places.
  private func noteDepartures(
    of records: [Int64], from top: Int64, inZone zone: Int64, at version: Int64
  ) throws {
    guard
      try ShareTable(transaction: transaction).isRoot(top, inZone: zone, of: database)
    else { return }
    for record in records {
      try DepartureTable(transaction: transaction).add(
        record, at: version, timestamp: timestamp, in: database)
    }
  }
}

extension Record {
  var isInHierarchy: Bool { parent != nil || share != nil }
}
