import CloudKitModel
import StoreModel

/// A record that an operation creates, checked and encoded outside of the transaction by the cached
/// schema.
///
/// The transaction uses it only if the catalog version is still that of ``type``. Otherwise, and
/// for operations that cannot be prepared, ``RecordModifier`` takes the full path through the
/// schema. It is a class, so that the writer copies a reference instead of the record.
final class RecordCreation: Sendable {
  /// The record without its change tag, in its zone as the database names it.
  private let record: Record
  /// The name of the new record.
  var recordName: String { record.recordID.recordName }
  /// The record type by which the record was checked.
  let type: SchemaCache.RecordType
  /// The bytes for the column `content`.
  let content: [UInt8]
  /// The record's entries in the value index.
  let entries: IndexEntries

  /// Prepares a `create` operation.
  ///
  /// It is nil if the operation cannot succeed; the transaction then reports the reason. It is also
  /// nil if the transaction must check more: the target of a reference, the receipt of an asset, a
  /// new field.
  ///
  /// - Parameters:
  ///   - operation: the operation; of another kind it gives nil.
  ///   - modification: the request, for its user and time.
  ///   - type: the cached record type.
  ///   - address: the address of the database.
  init?(
    of operation: RecordOperation, in modification: RecordModification,
    type: SchemaCache.RecordType, at address: DatabaseAddress
  ) {
    guard operation.kind == .create, operation.parent == nil,
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

  /// Returns the record as saved.
  func record(taggedWith changeTag: String) -> Record {
    var record = record
    record.recordChangeTag = changeTag
    return record
  }
}

extension RecordModifier {
  /// Writes the prepared record of an operation.
  ///
  /// - Returns: the version of the new record. It is nil, and nothing is written, if none was
  ///   prepared, if a record of its name exists, or if the full path is needed for another reason.
  /// - Throws: ``ItemFailure/Code/accessDenied`` if the requester may not create records of the
  ///   type.
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
