import CloudKitModel
import StoreModel

/// A request to change records, with the parts that were prepared outside of the transaction. So
/// the single writer has less to do for each request.
struct PreparedModification: Sendable {
  /// The request as the caller made it.
  var request: RecordModification
  /// The prepared record of each operation, in the order of the operations; nil for an operation
  /// without one. The array is empty if nothing was prepared.
  var creations: [RecordCreation?] = []
  /// The zone that all operations name, if no two operations name the same record. Otherwise, and
  /// if the names were not compared, the property is nil; ``RecordModifier`` then compares the
  /// names itself.
  private(set) var onlyZone: ZoneID?

  /// Prepares a request, on the caller's thread.
  ///
  /// - Parameter schemas: the cached schemas; nil to prepare nothing.
  init(_ request: RecordModification, by schemas: SchemaCache? = nil) {
    self.request = request
    guard let schemas else { return }
    creations = schemas.creations(for: request)
    onlyZone = request.zoneOfDistinctRecords
  }
}

extension RecordModification {
  /// The zone that all operations name. The result is nil if there are no operations, if they name
  /// several zones, or if two of them name the same record.
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
