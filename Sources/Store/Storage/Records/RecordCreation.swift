import CloudKitModel
import StoreModel

/// A record that an operation creates, checked and encoded outside of the transaction by the cached
/// schema.
final class RecordCreation: Sendable {
  /// The record without its change tag, in its zone as the database names it.
  private let record: Record
  var recordName: String { record.recordID.recordName }
  let type: SchemaCache.RecordType
  let content: [UInt8]
  let entries: IndexEntries

  /// Prepares a `create` operation.
  ///
  /// Nil if the operation cannot succeed, which the transaction then reports. Also nil if the
  /// transaction must check more: the target of a reference, the receipt of an asset, a new field.
  init?(
    of operation: RecordOperation, in modification: RecordModification,
    type: SchemaCache.RecordType, at address: DatabaseAddress
  ) {
    guard operation.kind == .create, operation.parent == nil, operation.shareContent == nil,
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

  /// The record as saved.
  func record(taggedWith changeTag: String) -> Record {
    var record = record
    record.recordChangeTag = changeTag
    return record
  }
}

extension RecordModifier {
  /// Writes the prepared record of an operation and returns its version. Writes nothing and returns
  /// nil if none was prepared, if a record of its name exists, or if the full path is needed for
  /// another reason.
  mutating func make(at index: Int, in zone: ZoneModification) throws -> Int64? {
    guard !creations.isEmpty, let creation = creations[index],
      creation.type.catalogVersion == transaction.catalog.version
    else { return nil }
    try checkAccess(of: modification.operations[index], to: nil)
    if let quota = modification.quota,
      try DatabaseTable(transaction: transaction).totalBytes(of: database) + Self.largestContent
        > quota
    {
      return nil
    }
    let version = try numbers.take(from: transaction)
    let isMade = try RecordTable(transaction: transaction).insert(
      creation, version: version, inZone: zone.zoneNumber, of: database)
    guard isMade else { return nil }
    latest = version
    try DatabaseTable(transaction: transaction).countBytes(creation.content.count, in: database)
    try TombstoneTable(transaction: transaction)
      .remove(recordNamed: creation.recordName, inZone: zone.zoneNumber, of: database)
    transaction.gathered.index.add(
      creation.entries, of: version, inZone: zone.zoneNumber, of: database)
    let tag = transaction.context.changeTags.tag(ofVersion: version, in: database)
    try post(.recordCreated, record: creation.record(taggedWith: tag), sequence: version)
    return version
  }
}
