import CloudKitModel

/// The times, in milliseconds, for which uploads stay, and files that no record holds.
enum AssetRetention {
  /// The time from the expiry of an upload URL to the deletion of the upload's row. Until then, a
  /// transfer that began in time can end, and the receipt is valid.
  static let receiptMilliseconds: Int64 = 24 * 60 * 60 * 1000
  /// The time from the first trim that finds a file without a holding record to the deletion of the
  /// file. A download URL is therefore valid for at least this time.
  static let orphanMilliseconds: Int64 = 60 * 60 * 1000
}

extension AssetService {
  /// Deletes old uploads and receipts, and files that no record and no receipt names. Each step
  /// consists of small transactions. If a step fails, the next trim completes the work.
  ///
  /// 1. Removes the incomplete files of servers that no longer run.
  /// 2. Deletes the uploads and receipts that expired at least
  ///    ``AssetRetention/receiptMilliseconds`` ago.
  /// 3. Gives each file that no record holds to ``AssetTable/trim(_:at:)``, which marks old ones.
  /// 4. Removes the bytes of the marked files from the ``AssetStore``, and then their marks, in
  ///    batches. After a crash in between, the next trim removes the missing file again, which has
  ///    no effect.
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
