import CloudKitModel

// The parts of records and changes have no tags: they follow one another in a fixed order. With
// tags for stamps and references, writing a record took 34 % more instructions
// (docs/internals/store.md).

extension RowEncoder {
  /// Encodes a record's content: everything but its ID, type and change tag, which other columns of
  /// the row determine.
  mutating func encodeContent(of record: Record) {
    encode(optional: record.created) { $0.encode($1) }
    encode(optional: record.modified) { $0.encode($1) }
    encode(optional: record.parent) { $0.encode($1) }
    encode(optional: record.share) { $0.encode($1) }
    encode(each: record.fields) {
      $0.encode($1.key)
      $0.encode($1.value, isEncrypted: record.encryptedFields.contains($1.key))
    }
  }

  /// Encodes a whole record, as a part of a change.
  mutating func encode(_ record: Record) {
    encode(record.recordID.recordName)
    encode(record.recordID.zoneID)
    encode(record.recordType)
    encode(optional: record.recordChangeTag)
    encodeContent(of: record)
  }

  /// Encodes a change, for the outbox and the notification log.
  mutating func encode(_ change: Change) {
    encode(byte: UInt8(change.event.rawValue))
    encode(change.zoneID)
    encode(change.notificationID)
    encode(change.timestamp)
    encode(optional: change.userRecordName)
    encode(optional: change.deviceID)
    encode(optional: change.record) { $0.encode($1) }
  }

  /// Encodes the time, user and device of a creation or modification.
  private mutating func encode(_ stamp: Record.Stamp) {
    encode(stamp.timestamp)
    encode(stamp.userRecordName)
    encode(optional: stamp.deviceID)
  }
}

extension RowDecoder {
  /// Decodes the result of ``RowEncoder/encodeContent(of:)`` into a record. ID, type and change tag
  /// of the record stay as they are.
  mutating func decodeContent(into record: inout Record) throws {
    try decode(.everything, into: &record)
  }

  /// Decodes a whole record, as a part of a change.
  mutating func decodeRecord() throws -> Record {
    let recordName = try decodeText()
    let zoneID = try decodeZoneID()
    var record = Record(
      recordID: RecordID(recordName: recordName, zoneID: zoneID), recordType: try decodeText(),
      recordChangeTag: try decodeOptionalText())
    try decodeContent(into: &record)
    return record
  }

  /// Decodes a change.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` for an unknown event or damaged bytes.
  mutating func decodeChange() throws -> Change {
    let code = try decodeByte()
    guard let event = ChangeEvent(rawValue: Int(code)) else {
      throw damaged("has the unknown event \(code)")
    }
    let zoneID = try decodeZoneID()
    let notificationID = try decodeUUID()
    let timestamp = try decodeTimestamp()
    let userRecordName = try decodeOptionalText()
    let deviceID = try decodeOptionalText()
    return Change(
      event: event, zoneID: zoneID, record: try decodeOptional { try $0.decodeRecord() },
      notificationID: notificationID, timestamp: timestamp, userRecordName: userRecordName,
      deviceID: deviceID)
  }

  /// Decodes the time, user and device of a creation or modification.
  mutating func decodeStamp() throws -> Record.Stamp {
    Record.Stamp(
      timestamp: try decodeTimestamp(), userRecordName: try decodeText(),
      deviceID: try decodeOptionalText())
  }
}
