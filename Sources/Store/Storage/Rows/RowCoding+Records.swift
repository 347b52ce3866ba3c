import CloudKitModel

// The parts of records and changes have no tags: they follow one another in a fixed order. With
// tags for stamps and references, writing a record took 34 % more instructions
// (docs/internals/store.md).

extension RowEncoder {
  /// Everything but ID, type and change tag, which other columns determine.
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

  mutating func encode(_ record: Record) {
    encode(record.recordID.recordName)
    encode(record.recordID.zoneID)
    encode(record.recordType)
    encode(optional: record.recordChangeTag)
    encodeContent(of: record)
  }

  mutating func encode(_ change: Change) {
    encode(byte: UInt8(change.event.rawValue))
    encode(change.zoneID)
    encode(change.notificationID)
    encode(change.timestamp)
    encode(optional: change.userRecordName)
    encode(optional: change.deviceID)
    encode(optional: change.record) { $0.encode($1) }
  }

  private mutating func encode(_ stamp: Record.Stamp) {
    encode(stamp.timestamp)
    encode(stamp.userRecordName)
    encode(optional: stamp.deviceID)
  }
}

extension RowDecoder {
  /// ID, type and change tag of the record stay as they are.
  mutating func decodeContent(into record: inout Record) throws {
    try decode(.everything, into: &record)
  }
}

extension Record {
  init(from decoder: inout RowDecoder) throws {
    let recordName = try decoder.decodeText()
    let zoneID = try ZoneID(from: &decoder)
    self.init(
      recordID: RecordID(recordName: recordName, zoneID: zoneID),
      recordType: try decoder.decodeText(), recordChangeTag: try decoder.decodeOptionalText())
    try decoder.decodeContent(into: &self)
  }
}

extension Record.Stamp {
  init(from decoder: inout RowDecoder) throws {
    self.init(
      timestamp: try decoder.decodeTimestamp(), userRecordName: try decoder.decodeText(),
      deviceID: try decoder.decodeOptionalText())
  }
}

extension Change {
  init(from decoder: inout RowDecoder) throws {
    let code = try decoder.decodeByte()
    guard let event = ChangeEvent(rawValue: Int(code)) else {
      throw decoder.damaged("has the unknown event \(code)")
    }
    let zoneID = try ZoneID(from: &decoder)
    let notificationID = try decoder.decodeUUID()
    let timestamp = try decoder.decodeTimestamp()
    let userRecordName = try decoder.decodeOptionalText()
    let deviceID = try decoder.decodeOptionalText()
    self.init(
      event: event, zoneID: zoneID, record: try decoder.decodeOptional { try Record(from: &$0) },
      notificationID: notificationID, timestamp: timestamp, userRecordName: userRecordName,
      deviceID: deviceID)
  }
}
