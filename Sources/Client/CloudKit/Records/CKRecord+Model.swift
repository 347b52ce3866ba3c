package import CloudKitModel

/// A protocol for one initializer, which makes records from the server's answers. An initializer of
/// a protocol extension can return an object of the subclass ``CKShare``. An initializer of the
/// class cannot.
package protocol RecordConstructible {}

extension CKRecord: RecordConstructible {}

extension RecordConstructible where Self: CKRecord {
  /// Makes a record from `model`, the record in the server's answer. The new record has no changed
  /// keys. A record of the share type becomes a ``CKShare``.
  ///
  /// - Parameter asset: Returns the asset object for a file that the server stores. If it returns
  ///   nil, the record gets an asset object whose file is not downloaded.
  package init(_ model: Record, asset: (Asset) -> CKAsset? = { _ in nil }) {
    let record = CKRecord(plain: model, asset: asset)
    guard let content = model.shareContent else {
      // Self is CKRecord here: no code calls this initializer on CKShare, the only subclass.
      self = record as! Self
      return
    }
    let share = CKShare(
      recordID: record.recordID, contents: record.contents.withLock { $0 },
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
    contents.share = model.share.map { Reference($0, in: zoneID) }
    contents.encryptedKeys = model.encryptedFields
    contents.fetched = .init(
      fields: contents.fields, parent: contents.parent, share: contents.share,
      encryptedKeys: contents.encryptedKeys)
    contents.system = SystemFields(
      changeTag: model.recordChangeTag,
      creator: model.created.map { ID(RecordID(recordName: $0.userRecordName)) },
      creationDate: model.created?.timestamp.date,
      lastModifier: model.modified.map { ID(RecordID(recordName: $0.userRecordName)) },
      modificationDate: model.modified?.timestamp.date)
    self.init(recordType: model.recordType, recordID: recordID, contents: contents)
  }

  /// The record as the server returned it, without later changes of the program. Nil for new
  /// records, and for records from an archive without ``setAncestor(_:)``.
  var ancestor: CKRecord? {
    let contents = contents.withLock { $0 }
    guard let fetched = contents.fetched else { return nil }
    return CKRecord(
      recordType: recordType, recordID: recordID,
      contents: Contents(
        system: contents.system, fields: fetched.fields, encryptedKeys: fetched.encryptedKeys,
        parent: fetched.parent, share: fetched.share, fetched: fetched))
  }

  /// Sets the ancestor of a record that was decoded from an archive, because the archive does not
  /// contain the ancestor.
  func setAncestor(_ ancestor: CKRecord) {
    let fetched = ancestor.contents.withLock { $0 }
    contents.withLock {
      $0.fetched = .init(
        fields: fetched.fields, parent: fetched.parent, share: fetched.share,
        encryptedKeys: fetched.encryptedKeys)
    }
  }

  /// Returns the record with all its fields, as a request contains it.
  ///
  /// - Parameter asset: Returns the server's description of an asset's file; nil if the server does
  ///   not have the file.
  /// - Throws: `invalidArguments` for a value that a record cannot hold. `assetNotAvailable` for an
  ///   asset whose file the server does not have. The error names the field.
  package func model(
    asset: (CKAsset) -> Asset? = { $0.storedAsset }
  ) throws(CKError) -> Record {
    let contents = contents.withLock { $0 }
    return try model(of: contents, keys: contents.fields.keys.sorted(), asset: asset)
  }

  /// Returns the record for an evaluation of a predicate in this process. Encrypted fields, and
  /// values that a record cannot hold, are left out.
  func searchableModel() -> Record {
    let contents = contents.withLock { $0 }
    var record = systemModel(of: contents)
    record.fields = contents.plainFields.reduce(into: [:]) { fields, field in
      // A value that cannot be converted matches no filter, so the error does not matter.
      fields[field.key] = try? RecordValue(field.value, field: field.key)
    }
    return record
  }

  /// The changes of a record, for a save that sends only the changed fields.
  package struct Changes {
    /// The record with its system fields, and with the changed fields that have a value.
    package var record: Record
    /// The changed fields that were removed.
    package var removedKeys: [FieldKey]
    package var isParentChanged: Bool
  }

  /// Returns the changes since the record was fetched or saved.
  ///
  /// - Parameter asset: Returns the server's description of an asset's file; nil if the server does
  ///   not have the file.
  /// - Throws: The same errors as ``model(asset:)``.
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

  /// Returns the assets of the record's fields, also those in lists. The fields are in alphabetical
  /// order; a list keeps its order.
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
      parent: contents.parent?.model, share: contents.share?.model)
  }

  /// Returns the record with the named fields. Fields without a value are left out.
  private func model(
    of contents: Contents, keys: [FieldKey], asset: (CKAsset) -> Asset?
  ) throws(CKError) -> Record {
    var record = systemModel(of: contents)
    for key in keys {
      guard let value = contents.fields[key] else { continue }
      record.fields[key] = try RecordValue(
        value, field: key, isEncrypted: contents.encryptedKeys.contains(key), asset: asset)
    }
    record.encryptedFields = contents.encryptedKeys.intersection(record.fields.keys)
    return record
  }

  /// Nil if the date or the user is nil.
  private func stamp(_ date: Date?, _ user: ID?) -> Record.Stamp? {
    guard let date, let user else { return nil }
    return Record.Stamp(timestamp: Timestamp(date), userRecordName: user.recordName)
  }
}
