import CloudKitModel
import SQLEngine
import StoreModel

/// The retention of assets that no record holds, in milliseconds.
///
/// An upload that no record ever names therefore stays for at least a day. A file that its last
/// record released stays for at least an hour after the next trim.
enum AssetRetention {
  /// From the expiry of an upload URL: the most that an upload may take, and the validity of its
  /// receipt.
  static let receiptMilliseconds: Int64 = 24 * 60 * 60 * 1000
  /// From the first trim that finds a file without a holder: the least validity of download URLs.
  static let orphanMilliseconds: Int64 = 60 * 60 * 1000
}

extension AssetService {
  /// Deletes old uploads and receipts, and files that no record and no receipt names.
  /// ``MaintenanceService`` calls it.
  ///
  /// The trim works in five steps, each in small transactions, so that it can stop after any of
  /// them:
  ///
  /// 1. Removes the incomplete files of dead servers.
  /// 2. Deletes uploads that expired more than ``AssetRetention/receiptMilliseconds`` ago.
  /// 3. Goes through all files without a holder. The first trim that finds such a file stores the
  ///    time; a later trim deletes its row and marks the file (``AssetTable/trim(_:at:)``).
  /// 4. Removes the bytes of the marked files from the ``AssetStore``.
  /// 5. Deletes the marks of the removed files.
  ///
  /// A file is removed before its mark. If the server dies between the two steps, the next trim
  /// removes the missing file again, which has no effect.
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
    // If the folder is refused, the store's files are in another folder. The marks must then stay,
    // although the files are not in this folder.
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
