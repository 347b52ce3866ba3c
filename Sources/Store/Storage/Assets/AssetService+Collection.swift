import CloudKitModel
import SQLEngine
import StoreModel

/// The times, in milliseconds, for which uploads stay, and files that no record holds. A record
/// holds a file if one of its fields has the asset.
///
/// An upload that no record ever names therefore stays for at least a day. A file that no record
/// holds any more stays for at least an hour after the next trim, the periodic deletion by
/// ``AssetService/trimAssets(at:)``.
enum AssetRetention {
  /// The time from the expiry of an upload URL to the deletion of the upload's row. Until then, a
  /// transfer that began in time can end, and the receipt is valid.
  static let receiptMilliseconds: Int64 = 24 * 60 * 60 * 1000
  /// The time from the first trim that finds a file without a holding record to the deletion of the
  /// file. A download URL is therefore valid for at least this time.
  static let orphanMilliseconds: Int64 = 60 * 60 * 1000
}

extension AssetService {
  /// Deletes old uploads and receipts, and files that no record and no receipt names.
  /// ``MaintenanceService`` calls the method.
  ///
  /// The trim has these steps. Each step consists of small transactions. If a step fails, the next
  /// trim completes the work.
  ///
  /// 1. Removes the incomplete files of servers that no longer run.
  /// 2. Deletes the uploads and receipts that expired at least
  ///    ``AssetRetention/receiptMilliseconds`` ago.
  /// 3. Reads all files that no record holds. The first trim that finds such a file stores the
  ///    time. A later trim deletes the file's row and marks the file: it adds a row to
  ///    `asset_disposals` (``AssetTable/trim(_:at:)``).
  /// 4. Removes the bytes of the marked files from the ``AssetStore``, and then their marks, in
  ///    batches.
  ///
  /// If the server ends before a mark is deleted, the next trim removes the missing file again,
  /// which has no effect.
  func trimAssets(at timestamp: Timestamp) async throws {
    let now = timestamp.milliseconds
    try await files.removeLeftovers()
    let oldest = now - AssetRetention.receiptMilliseconds
    try await transactions.inBatches(
      { try AssetUploadTable(transaction: $0).old(before: oldest) },
      drop: { try AssetUploadTable(transaction: $0).forget($1) })
    var last = (database: Int64.min, checksum: "")
    while true {
      let orphans = try await transactions.read { [last] in
        try AssetTable(transaction: $0).orphans(after: last.database, last.checksum)
      }
      try await transactions.inEachDatabase(of: orphans) { transaction, orphans in
        for orphan in orphans { try AssetTable(transaction: transaction).trim(orphan, at: now) }
      }
      guard orphans.count == Int(Retention.batch), let end = orphans.last else { break }
      last = (end.database.rawValue, end.checksum)
    }
    // If the folder is refused, the store's files are in another folder. The marks must stay,
    // because the marked files are still in that folder.
    if let folder = files as? FileAssetStore, folder.isRefused { return }
    while true {
      let names = try await transactions.read { try AssetTable(transaction: $0).disposable() }
      if names.isEmpty { break }
      for name in names { try await files.remove(name) }
      try await transactions.inEachDatabase(of: names) {
        try AssetTable(transaction: $0).forgetDisposals($1)
      }
    }
  }
}
