import CloudKitModel
import StoreModel

/// A record that an operation creates, checked and encoded before the transaction by the cached
/// schema (``SchemaCache``), which may be outdated.
///
/// The transaction uses the prepared record only if the catalog version is still that of ``type``.
/// Otherwise, and for operations that cannot be prepared, ``RecordModifier`` reads the schema and
/// does all checks itself: the *full path*.
/// The type is a class, so that the writer copies a reference instead of the record.
final class RecordCreation: Sendable {
  /// Without its change tag. Its zone ID is in the database's own form
  /// (`DatabaseAddress.canonical`).
  private let record: Record
  var recordName: String { record.recordID.recordName }
  let type: SchemaCache.RecordType
  let content: [UInt8]
  let entries: IndexEntries

  /// Prepares a `create` operation. The result is nil if the operation cannot succeed; the
  /// transaction then reports the reason. It is also nil if the record has a parent, a share, a
  /// short GUID, a reference, an asset, an encrypted field or a field that `type` lacks: only the
  /// transaction can check these.
  init?(
    of operation: RecordOperation, in modification: RecordModification,
    type: SchemaCache.RecordType, at address: DatabaseAddress
  ) {
    guard operation.kind == .create, operation.parent == nil, !operation.createsShortGUID,
      operation.recordType != ShareContent.recordType,
      operation.encryptedFields.isEmpty,
      // A refused operation takes the full path, which reports the reason.
      case .save(var record)? = try? operation.decision(on: nil, in: modification),
      // A refused record takes the full path, which reports the reason.
      (try? record.validate()) != nil
    else { return nil }
    for (name, value) in record.fields {
      guard let field = type.fields[name], !field.isEncrypted,
        field.type.element != .reference, field.type.element != .asset
      else { return nil }
      if value.type == field.type { continue }
      guard let fitted = value.fitted(to: field.type) else { return nil }
      record.fields[name] = fitted
    }
    var encoder = RowEncoder(reserving: 256)
    encoder.encodeContent(of: record)
    content = encoder.bytes
    entries = IndexEntries(of: record, fields: type.fields, hasOwner: address.owner != nil)
    record.recordID.zoneID = address.canonical(record.recordID.zoneID)
    self.record = record
    self.type = type
  }

  func record(taggedWith changeTag: String) -> Record {
    var record = record
    record.recordChangeTag = changeTag
    return record
  }
}

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
