package import CloudKitModel

/// Makes records from what the server returned. An initializer of a protocol can return a subclass.
package protocol RecordConstructible {}

extension CKRecord: RecordConstructible {}

extension RecordConstructible where Self: CKRecord {
  /// A record as the server returned it: without changed keys. One of the share type is a `CKShare`.
  ///
  /// - Parameter asset: The object for a file; one that was not downloaded where it is nil.
  package init(_ model: Record, asset: (Asset) -> CKAsset? = { _ in nil }) {
    let record = CKRecord(plain: model, asset: asset)
    guard let content = model.shareContent else {
      // Self is CKRecord: nothing makes a record of the only subclass this way.
      self = record as! Self
      return
    }
    let share = CKShare(
      recordID: record.recordID, system: record.systemFields,
      contents: record.contents.withLock { $0 },
      sharing: CKShare.Sharing(
        content, recordID: record.recordID, creator: record.creatorUserRecordID,
        isOwn: model.recordID.zoneID.ownerName == ZoneID.currentOwnerName))
    self = share as! Self
  }
}

extension CKRecord {
  fileprivate convenience init(plain model: Record, asset: (Asset) -> CKAsset?) {
    let recordID = ID(model.recordID)
    let zoneID = recordID.zoneID
    var contents = Contents()
    contents.fields.reserveCapacity(model.fields.count)
    for (name, value) in model.fields {
      contents.fields[name] = value.object(in: zoneID, asset: asset)
    }
    contents.parent = model.parent.map { Reference($0, in: zoneID) }
    contents.encryptedKeys = model.encryptedFields
    contents.fetched = .init(
      fields: contents.fields, parent: contents.parent, encryptedKeys: contents.encryptedKeys)
    self.init(
      recordType: model.recordType, recordID: recordID,
      system: SystemFields(
        changeTag: model.recordChangeTag,
        creator: model.created.map { ID(RecordID(recordName: $0.userRecordName)) },
        creationDate: model.created?.timestamp.date,
        lastModifier: model.modified.map { ID(RecordID(recordName: $0.userRecordName)) },
        modificationDate: model.modified?.timestamp.date,
        share: model.share.map { Reference($0, in: zoneID) }),
      contents: contents)
  }

  /// The record as the server returned it, without the changes since; nil for records that are new
  /// or come from an archive.
  var ancestor: CKRecord? {
    guard let fetched = contents.withLock({ $0.fetched }) else { return nil }
    return CKRecord(
      recordType: recordType, recordID: recordID, system: systemFields,
      contents: Contents(
        fields: fetched.fields, encryptedKeys: fetched.encryptedKeys, parent: fetched.parent,
        fetched: fetched))
  }

  /// Gives a record from an archive the ancestor that the archive does not hold.
  func setAncestor(_ ancestor: CKRecord) {
    let fetched = ancestor.contents.withLock { $0 }
    contents.withLock { $0.fetched = .init(fields: fetched.fields, parent: fetched.parent) }
  }

  /// The record with all its fields.
  ///
  /// - Throws: as ``CloudKitModel/RecordValue/init(_:field:)``.
  package func model(
    asset: (CKAsset) -> Asset? = { $0.storedAsset }
  ) throws(CKError) -> Record {
    let contents = contents.withLock { $0 }
    return try model(of: contents, keys: contents.fields.keys.sorted(), asset: asset)
  }

  /// The record with those of its fields that a filter can look at.
  func searchableModel() -> Record {
    let contents = contents.withLock { $0 }
    var record = systemModel(of: contents)
    record.fields = contents.plainFields.reduce(into: [:]) { fields, field in
      // A value that has no model matches no filter.
      fields[field.key] = try? RecordValue(field.value, field: field.key)
    }
    return record
  }

  /// What a save of only the changed fields sends.
  package struct Changes {
    /// The record with the changed fields that have a value.
    package var record: Record
    /// The changed fields that have none.
    package var removedKeys: [FieldKey]
    /// Whether the parent was set or removed.
    package var isParentChanged: Bool
  }

  /// - Throws: as ``model()``.
  package func changes(
    asset: (CKAsset) -> Asset? = { $0.storedAsset }
  ) throws(CKError) -> Changes {
    let contents = contents.withLock { $0 }
    let keys = contents.changedKeys.sorted()
    return Changes(
      record: try model(of: contents, keys: keys, asset: asset),
      removedKeys: keys.filter { contents.fields[$0] == nil },
      isParentChanged: contents.isParentChanged)
  }

  /// The assets in the record's fields, single and in lists, in alphabetical order of the fields.
  package func assets() -> [(key: FieldKey, asset: CKAsset)] {
    let fields = contents.withLock { $0.fields }
    return fields.keys.sorted().flatMap { key -> [(key: FieldKey, asset: CKAsset)] in
      if let asset = fields[key] as? CKAsset { return [(key, asset)] }
      return (fields[key] as? [CKAsset] ?? []).map { (key, $0) }
    }
  }

  private func systemModel(of contents: Contents) -> Record {
    Record(
      recordID: recordID.model, recordType: recordType, recordChangeTag: recordChangeTag,
      created: stamp(creationDate, creatorUserRecordID),
      modified: stamp(modificationDate, lastModifiedUserRecordID),
      parent: contents.parent?.model, share: share?.model)
  }

  private func model(
    of contents: Contents, keys: [FieldKey], asset: (CKAsset) -> Asset?
  ) throws(CKError) -> Record {
    var record = systemModel(of: contents)
    for key in keys {
      guard let value = contents.fields[key] else { continue }
      record.fields[key] = try RecordValue(value, field: key, asset: asset)
    }
    record.encryptedFields = contents.encryptedKeys.intersection(record.fields.keys)
    return record
  }

  private func stamp(_ date: Date?, _ user: ID?) -> Record.Stamp? {
    guard let date, let user else { return nil }
    return Record.Stamp(timestamp: Timestamp(date), userRecordName: user.recordName)
  }
}
