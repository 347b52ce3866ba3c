import CloudKitModel
import StoreModel

/// A request to change records, with what was made ready of it outside of the transaction: that need not
/// be done by the one thread that writes.
struct PreparedModification: Sendable {
  var request: RecordModification
  /// What was made ready of the operations, in their order; nil for those of which nothing was, empty
  /// for nothing at all.
  var creations: [RecordCreation?] = []
  /// The zone of all operations, when each is on a record of its own there and that was looked at
  /// outside of the transaction; nil when it has to be looked at inside.
  private(set) var onlyZone: ZoneID?

  /// - Parameter schemas: what is known of the schema; without it nothing is made ready.
  init(_ request: RecordModification, by schemas: SchemaCache? = nil) {
    self.request = request
    guard let schemas else { return }
    creations = schemas.creations(for: request)
    onlyZone = request.zoneOfDistinctRecords
  }
}

extension RecordModification {
  /// The zone that all operations name, if each names another record.
  fileprivate var zoneOfDistinctRecords: ZoneID? {
    guard let zoneID = operations.first?.recordID.zoneID else { return nil }
    var names = Set<String>(minimumCapacity: operations.count)
    for operation in operations {
      guard operation.recordID.zoneID == zoneID,
        names.insert(operation.recordID.recordName).inserted
      else { return nil }
    }
    return zoneID
  }
}
