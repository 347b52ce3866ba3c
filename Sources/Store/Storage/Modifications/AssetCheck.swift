import CloudKitModel
import StoreModel

/// The check of the assets of a record to be saved. It writes nothing.
struct AssetCheck {
  let user: String
  let database: DatabaseID
  let transaction: StoreTransaction

  /// Reduces each asset to its stored parts: checksum and size.
  ///
  /// An asset needs a receipt that the same user got for an upload or from `assets/rereference`,
  /// unless the stored record has the same file in the same field.
  ///
  /// - Throws: ``ItemFailure/Code/invalid`` for an asset without a valid receipt, or whose file the
  ///   database no longer has.
  func settle(
    _ record: inout Record, named: [String], over current: StoredRecord?
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

  /// - Parameter text: the end of a sentence, such as `has no receipt`.
  private func failure(_ field: String, _ record: Record, _ text: String) -> ItemFailure {
    ItemFailure(
      .invalid, field: field, "the asset in field '\(field)' of record '\(record.recordID)' \(text)"
    )
  }

  /// If the receipt was issued for a field, a record type or a record, the asset must be in that
  /// one.
  private func checkReceipt(
    _ receipt: String, of asset: Asset, field: String, of record: Record
  ) throws -> String {
    let upload = try AssetUploadTable(transaction: transaction).receipt(receipt, in: database)
    guard let upload, upload.user == user else {
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

  private func stored(_ checksum: String, field: String, of record: Record) throws -> Asset {
    let file = try AssetTable(transaction: transaction).file(ofChecksum: checksum, in: database)
    guard let file else {
      throw failure(field, record, "is a file that the server does not have; upload it again")
    }
    return Asset(fileChecksum: checksum, size: file.size)
  }
}
