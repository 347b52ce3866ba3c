internal import CloudKitModel

/// The download of the assets of fetched records, one file after the other.
///
/// An operation that fetches uses this step between an answer and its blocks. A record is delivered
/// when all its assets are in local files. If the server no longer has a file, or refuses it, that
/// record fails with `assetNotAvailable` and the download continues with the next record. The
/// operation ends when the network or the server fails, or when the program cancels it.
final class AssetDownload: @unchecked Sendable {
  // Unchecked: only the operation's callback queue uses it.

  /// The records that are not delivered yet. The first one is in work.
  private var remaining: ArraySlice<CKRecord>
  private let progress: (CKRecord, Double) -> Void
  /// The consumer of each record, with the error that keeps its assets away; nil if all are local.
  private let deliver: (CKRecord, CKError?) -> Void
  /// The source of the call that follows the last record.
  private let next: () throws(CKError) -> ServiceCall?
  /// The assets of the first remaining record that still need a download.
  private var assets: ArraySlice<CKAsset> = []
  /// The progress of the first remaining record.
  private var state = AssetProgress(total: 0)

  init(
    of records: [CKRecord], progress: @escaping (CKRecord, Double) -> Void,
    deliver: @escaping (CKRecord, CKError?) -> Void,
    then next: @escaping () throws(CKError) -> ServiceCall?
  ) {
    remaining = records[...]
    self.progress = progress
    self.deliver = deliver
    self.next = next
  }

  /// Delivers records until one needs a file.
  ///
  /// - Returns: The call that downloads that file. After the last record, the result of `next`.
  func proceed() throws(CKError) -> ServiceCall? {
    while let record = remaining.first {
      assets = record.assets().map(\.asset).filter { $0.isDownloadable }[...]
      if !assets.isEmpty {
        state = AssetProgress(total: assets.reduce(0) { $0 + ($1.storedAsset?.size ?? 0) })
        return try fetch(for: record)
      }
      remaining.removeFirst()
      deliver(record, nil)
    }
    return try next()
  }

  /// Returns the call that downloads the first of `assets`; delivers `record` when none is left.
  private func fetch(for record: CKRecord) throws(CKError) -> ServiceCall? {
    guard let asset = assets.first else {
      remaining.removeFirst()
      deliver(record, nil)
      return try proceed()
    }
    guard let text = asset.storedAsset?.downloadURL, let url = URL(string: text) else {
      return try fail(record, "its download URL is not a valid URL")
    }
    let target = try StagedFile.newURL()
    let transfer = ServiceCall.Transfer(direction: .download(to: target), url: url) {
      [self] count in
      if let fraction = state.moved(count) { progress(record, fraction) }
      return nil
    }
    return ServiceCall(transfer) { [self] result throws(CKError) in
      switch result {
      case .success:
        asset.setFile(StagedFile(target))
        if let fraction = state.finishFile(of: asset.storedAsset?.size ?? 0) {
          progress(record, fraction)
        }
        assets.removeFirst()
        return try fetch(for: record)
      case .failure(let error) where error.code == .unknownItem || error.code == .permissionFailure:
        return try fail(record, error.localizedDescription)
      case .failure(let error):
        throw error
      }
    }
  }

  /// Delivers `record` with `assetNotAvailable` and continues with the next record.
  private func fail(_ record: CKRecord, _ reason: String) throws(CKError) -> ServiceCall? {
    assets = []
    remaining.removeFirst()
    deliver(
      record,
      CKError(
        .assetNotAvailable,
        "an asset of record '\(record.recordID.recordName)' cannot be downloaded: \(reason)"))
    return try proceed()
  }
}

extension CKAsset {
  /// Whether the server has a file for the asset and this process has none.
  fileprivate var isDownloadable: Bool { fileURL == nil && storedAsset?.downloadURL != nil }
}

extension CKDatabaseOperation {
  /// Downloads the assets of the records of an answer, then continues the operation.
  ///
  /// An override of `receive(_:)` returns the result:
  ///
  /// ```swift
  /// return try downloadAssets(of: records) { record, error in
  ///   self.recordBlock?(record.recordID, error.map { .failure($0) } ?? .success(record))
  /// } then: { () throws(CKError) in
  ///   self.nextCall()
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - records: The records as the server returned them. Records without assets are delivered at
  ///     once.
  ///   - progress: Receives fractions below 1 while the assets of a record are downloaded.
  ///   - deliver: Receives each record in order, with an error if one of its assets failed.
  ///   - next: Returns the call that follows; nil ends the operation.
  /// - Returns: The next call of the operation; nil when there is none.
  func downloadAssets(
    of records: [CKRecord], progress: @escaping (CKRecord, Double) -> Void = { _, _ in },
    deliver: @escaping (CKRecord, CKError?) -> Void,
    then next: @escaping () throws(CKError) -> ServiceCall? = { () throws(CKError) in nil }
  ) throws(CKError) -> ServiceCall? {
    try AssetDownload(of: records, progress: progress, deliver: deliver, then: next).proceed()
  }
}
