import CloudKitModel
import StoreModel

extension RecordModifier {
  /// Checks that the user may save the assets in the named fields, and reduces them to what is
  /// stored: checksum and size.
  ///
  /// An asset needs a receipt: of an upload that the same user made for the field, or from
  /// `assets/rereference`. An asset that the field already holds needs none.
  ///
  /// - Parameters:
  ///   - record: the record to be saved. Its assets are replaced by what is stored.
  ///   - named: the fields that the operation sets.
  ///   - current: the stored record; nil for a new one.
  /// - Throws: ``ItemFailure/Code/invalid`` for an asset without a valid receipt, or whose file is
  ///   gone.
  func settleAssets(
    of record: inout Record, named: [String], over current: StoredRecord?
  ) throws {
    for name in named {
      guard let value = record.fields[name], value.type.element == .asset else { continue }
      let held = Set(current?.record.fields[name]?.assets.map(\.fileChecksum) ?? [])
      record.fields[name] = try value.mapAssets { asset in
        guard let receipt = asset.receipt else {
          guard held.contains(asset.fileChecksum) else {
            throw failure(
              name, record,
              "has no receipt, and the field does not hold this file; upload it with "
                + "assets/upload first")
          }
          return try stored(asset.fileChecksum, field: name, of: record)
        }
        let checksum = try checkReceipt(receipt, of: asset, field: name, of: record)
        return try stored(checksum, field: name, of: record)
      }
    }
  }

  /// Returns the failure of an asset, from the rest of its sentence.
  private func failure(_ field: String, _ record: Record, _ text: String) -> ItemFailure {
    ItemFailure(
      .invalid, field: field, "the asset in field '\(field)' of record '\(record.recordID)' \(text)"
    )
  }

  /// Checks that a receipt fits the asset, and returns the checksum of the file uploaded under the
  /// receipt.
  ///
  /// The receipt must belong to the same user. If the upload named a field, a record type or a
  /// record, these must be the same.
  ///
  /// - Throws: ``ItemFailure/Code/invalid`` for another receipt, or one that has expired after a
  ///   day.
  private func checkReceipt(
    _ receipt: String, of asset: Asset, field: String, of record: Record
  ) throws -> String {
    let upload = try AssetUploadTable(transaction: transaction).receipt(receipt, in: database)
    guard let upload, upload.user == modification.origin.userRecordName else {
      throw failure(
        field, record,
        "has a receipt that the server did not give to this user, or that is older than a day; "
          + "upload the file again")
    }
    let bounds = [
      ("field", upload.field, field), ("record type", upload.recordType, record.recordType),
      ("record", upload.recordName, record.recordID.recordName),
    ]
    for case (let what, let bound?, let given) in bounds where bound != given {
      throw failure(
        field, record,
        "has a receipt for the \(what) '\(bound)', not '\(given)'; upload the file for this "
          + "\(what), or use assets/rereference")
    }
    guard let checksum = upload.checksum else {
      throw failure(field, record, "has a receipt of an upload that was not finished")
    }
    guard checksum == asset.fileChecksum else {
      throw failure(
        field, record,
        "has the fileChecksum '\(asset.fileChecksum)', but the uploaded file has '\(checksum)'")
    }
    return checksum
  }

  /// Returns the asset as a record stores it: with its checksum and size, without the receipt.
  ///
  /// - Throws: ``ItemFailure/Code/invalid`` if the database does not have the file.
  private func stored(_ checksum: String, field: String, of record: Record) throws -> Asset {
    let size = try AssetTable(transaction: transaction).size(ofChecksum: checksum, in: database)
    guard let size else {
      throw failure(field, record, "is a file that the server does not have; upload it again")
    }
    return Asset(fileChecksum: checksum, size: size)
  }
}
