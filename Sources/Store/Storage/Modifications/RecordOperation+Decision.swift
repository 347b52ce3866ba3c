import CloudKitModel
import StoreModel

/// The effect of an operation, before the schema and other records are checked.
enum RecordDecision: Equatable {
  case save(Record)
  case delete
  /// There is no record to delete, and the operation is a `forceDelete`.
  case nothing
}

extension RecordOperation {
  /// Decides what the operation does, by the stored record with the operation's record ID.
  ///
  /// | kind | no record | a record |
  /// | --- | --- | --- |
  /// | `create` | save | fails: `exists` |
  /// | `update`, `replace` | fails: `notFound` | save, if the change tag is the record's |
  /// | `forceUpdate`, `forceReplace` | save | save |
  /// | `delete` | fails: `notFound` | delete, if the change tag is the record's |
  /// | `forceDelete` | nothing | delete |
  ///
  /// An update keeps the fields that the operation does not name; a replacement removes them. The
  /// record to save has no change tag yet.
  ///
  /// - Throws: the failures in the table; ``ItemFailure/Code/conflict`` if the operation has
  ///   another change tag than the record, or none; ``ItemFailure/Code/invalid`` for another or no
  ///   record type, or a name that a new record may not have. `exists` and `conflict` carry the
  ///   stored record.
  func decision(
    on current: Record?, in modification: RecordModification
  ) throws(ItemFailure) -> RecordDecision {
    switch kind {
    case .create:
      if let current {
        throw ItemFailure(
          .exists, "record to insert already exists: '\(recordID)'; update it instead",
          serverRecord: current)
      }
      return .save(try created(in: modification))
    case .update, .replace:
      let current = try existing(current)
      try checkTag(of: current)
      return .save(try changed(current, in: modification))
    case .forceUpdate, .forceReplace:
      guard let current else { return .save(try created(in: modification)) }
      return .save(try changed(current, in: modification))
    case .delete:
      try checkTag(of: try existing(current))
      return .delete
    case .forceDelete:
      return current == nil ? .nothing : .delete
    }
  }

  private func existing(_ current: Record?) throws(ItemFailure) -> Record {
    guard let current else {
      throw ItemFailure(.notFound, "there is no record '\(recordID)'")
    }
    return current
  }

  private func checkTag(of current: Record) throws(ItemFailure) {
    guard recordChangeTag != current.recordChangeTag else { return }
    let given = recordChangeTag.map { "has the change tag '\($0)'" } ?? "has no change tag"
    // Public code looks for "oplock", iCloud's word for the check of change tags.
    let work = kind == .delete ? "deleting" : "updating"
    throw ItemFailure(
      .conflict, field: "recordChangeTag",
      "client oplock error \(work) record '\(recordID)': the \(kind.rawValue) \(given), but the record "
        + "has '\(current.recordChangeTag ?? "")'; fetch it and apply the change again",
      serverRecord: current)
  }

  private func created(in modification: RecordModification) throws(ItemFailure) -> Record {
    guard let recordType else {
      throw ItemFailure(
        .invalid, field: "recordType",
        "record '\(recordID)' does not exist, and creating it needs a recordType")
    }
    try checkName(forType: recordType, in: modification)
    let stamp = modification.stamp
    var record = Record(
      recordID: recordID, recordType: recordType, created: stamp, modified: stamp,
      fields: fields.compactMapValues { $0 })
    if !encryptedFields.isEmpty {
      record.encryptedFields = encryptedFields.intersection(record.fields.keys)
    }
    if let parent { record.parent = parent }
    record.shareContent = shareContent
    return record
  }

  /// Names that begin with `_` are reserved for the system, except for the user's own record of the
  /// type `Users`. The name of the share of a zone is reserved too: another record with the name
  /// would keep the zone from being shared.
  private func checkName(
    forType recordType: String, in modification: RecordModification
  ) throws(ItemFailure) {
    if recordType == "Users", recordID.recordName == modification.origin.userRecordName { return }
    do {
      try recordID.validate()
    } catch {
      throw ItemFailure(error)
    }
    guard recordID.recordName != ShareContent.zoneShareName || recordType == ShareContent.recordType
    else {
      throw ItemFailure(
        .invalid, field: "recordName",
        "'\(recordID.recordName)' is the name of the share of a zone; a record of type "
          + "'\(recordType)' cannot have it")
    }
  }

  private func changed(
    _ current: Record, in modification: RecordModification
  ) throws(ItemFailure) -> Record {
    if let recordType, recordType != current.recordType {
      throw ItemFailure(
        .invalid, field: "recordType",
        "record '\(recordID)' is of type '\(current.recordType)'; its type cannot become "
          + "'\(recordType)'")
    }
    var record = current
    record.recordChangeTag = nil
    record.modified = modification.stamp
    if kind == .replace || kind == .forceReplace {
      record.fields = [:]
      record.encryptedFields = []
    }
    for (name, value) in fields {
      record.fields[name] = value
      if value != nil, encryptedFields.contains(name) {
        record.encryptedFields.insert(name)
      } else {
        record.encryptedFields.remove(name)
      }
    }
    if let parent { record.parent = parent }
    record.shareContent = shareContent
    return record
  }
}

extension RecordModification {
  fileprivate var stamp: Record.Stamp {
    Record.Stamp(
      timestamp: timestamp, userRecordName: origin.userRecordName, deviceID: origin.deviceID)
  }
}
