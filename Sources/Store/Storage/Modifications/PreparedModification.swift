import CloudKitModel
import StoreModel

/// A request to change records, with the parts that were prepared outside of the transaction, so
/// that the single writer has less to do.
struct PreparedModification: Sendable {
  var request: RecordModification
  /// Nil for an operation without one; empty if nothing was prepared.
  var creations: [RecordCreation?] = []
  /// The zone that all operations name, if no two of them name the same record. If it is nil,
  /// ``RecordModifier`` compares the names itself.
  private(set) var onlyZone: ZoneID?

  /// Runs on the caller's thread. Without schemas, it prepares nothing.
  init(_ request: RecordModification, by schemas: SchemaCache? = nil) {
    self.request = request
    guard let schemas else { return }
    creations = schemas.creations(for: request)
    onlyZone = request.zoneOfDistinctRecords
  }
}

extension RecordModification {
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
