import CloudKitModel
import SQLEngine
import StoreModel

/// How long assets that nobody holds are kept.
enum AssetRetention {
  /// From the end of an upload URL's time: so long may an upload last, and its receipt be used.
  static let receiptMilliseconds: Int64 = 24 * 60 * 60 * 1000
  /// From the first trim that finds a file without a holder: so long are download URLs good at
  /// least.
  static let orphanMilliseconds: Int64 = 60 * 60 * 1000
}

extension AssetService {
  /// Forgets old uploads and receipts, and drops the files that no record and no receipt names.
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
    // The files are elsewhere, and are not gone because they are not here.
    if let folder = files as? FileAssetStore, folder.isStrange { return }
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
