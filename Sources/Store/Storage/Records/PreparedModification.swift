import CloudKitModel
import StoreModel

/// A request to change records, with the parts that were prepared outside of the transaction to
/// spare the single writer.
struct PreparedModification: Sendable {
  /// The request as the caller made it.
  var request: RecordModification
  /// The prepared records of the operations, in their order: nil for an operation without one,
  /// empty if there are none.
  var creations: [RecordCreation?] = []
  /// The zone of all operations, if a check outside of the transaction found that each names
  /// another record there; nil if the transaction must check.
  private(set) var onlyZone: ZoneID?

  /// Prepares a request, on the caller's thread.
  ///
  /// - Parameter schemas: the cached schemas; without them nothing is prepared.
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
