import CloudKit

/// A note as this device keeps it.
struct Note: Codable {
  static let recordType = "Note"

  /// The name of the note's record, which no other note has.
  struct ID: Codable, Hashable {
    let recordName: String
    let zoneName: String
    let ownerName: String

    init(_ recordID: CKRecord.ID) {
      recordName = recordID.recordName
      zoneName = recordID.zoneID.zoneName
      ownerName = recordID.zoneID.ownerName
    }

    var recordID: CKRecord.ID {
      CKRecord.ID(
        recordName: recordName,
        zoneID: CKRecordZone.ID(zoneName: zoneName, ownerName: ownerName))
    }
  }

  /// The latest version that this device has got from the server, or has saved there.
  struct ServerVersion: Codable {
    let content: NoteContent
    let isShared: Bool
    /// The record's change tag, share and other system fields, without which the next save would be
    /// a conflict.
    let systemFields: Data

    init(_ record: CKRecord) {
      content = NoteContent(record)
      isShared = record.share != nil
      let coder = NSKeyedArchiver(requiringSecureCoding: true)
      record.encodeSystemFields(with: coder)
      systemFields = coder.encodedData
    }

    /// The record without its content; nil if the data is damaged. Then the next save is a conflict,
    /// which brings the record again.
    var record: CKRecord? {
      guard let coder = try? NSKeyedUnarchiver(forReadingFrom: systemFields) else { return nil }
      coder.requiresSecureCoding = true
      return CKRecord(coder: coder)
    }
  }

  let id: ID
  var content: NoteContent
  /// Nil if the server has never had the note, or has it no more.
  var server: ServerVersion?
  /// Whether the user has deleted the note. It is kept until the server has deleted its record.
  var isDeleted = false

  /// Creates a note that the user writes.
  init(_ content: NoteContent, in zoneID: CKRecordZone.ID) {
    id = ID(CKRecord.ID(recordName: UUID().uuidString, zoneID: zoneID))
    self.content = content
  }

  /// Creates a note that comes from the server.
  init(_ record: CKRecord) {
    id = ID(record.recordID)
    content = NoteContent(record)
    server = ServerVersion(record)
  }

  /// The change that the server does not have yet; nil if it has all.
  var unsentChange: CKSyncEngine.PendingRecordZoneChange? {
    if isDeleted { return .deleteRecord(id.recordID) }
    if let server, content.isSame(as: server.content) { return nil }
    return .saveRecord(id.recordID)
  }

  /// The record to save: the server's record, as this device knows it, with the content of this
  /// device.
  var record: CKRecord {
    let record =
      server?.record ?? CKRecord(recordType: Self.recordType, recordID: id.recordID)
    content.write(to: record)
    return record
  }

  /// Takes over a version that another device has saved. What the user has changed here since the
  /// last version stays, and is unsent.
  mutating func merge(_ record: CKRecord) {
    content = content.merged(with: NoteContent(record), since: server?.content)
    server = ServerVersion(record)
  }
}
