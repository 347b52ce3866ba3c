internal import CloudKitModel

/// The download of the assets of fetched records, one file after the other.
///
/// An operation that fetches records uses this step after the server's answer and before it calls
/// its blocks. The step delivers a record, which means that it passes the record to the operation,
/// when all assets of the record are in local files. If the server no longer has a file, or refuses
/// it, that record fails with `assetNotAvailable`, and the download continues with the next record.
/// The operation ends when the network or the server fails, unless the files are optional, or when the
/// program cancels it.
final class AssetDownload: @unchecked Sendable {
  // Unchecked: only the operation's callback queue uses this object.

  /// The records that are not delivered yet. The download works on the first one.
  private var remaining: ArraySlice<CKRecord>
  /// Whether a failure of the network or the server fails only its record.
  private let isOptional: Bool
  private let progress: (CKRecord, Double) -> Void
  /// The function that gets each record. The error says why an asset of the record is missing; nil
  /// if all assets are in local files.
  private let deliver: (CKRecord, CKError?) -> Void
  /// The function that returns the operation's next call after the last record; nil ends the
  /// operation.
  private let next: () throws(CKError) -> ServiceCall?
  private var assets: ArraySlice<CKAsset> = []
  private var state = AssetProgress(total: 0)

  init(
    of records: [CKRecord], isOptional: Bool, progress: @escaping (CKRecord, Double) -> Void,
    deliver: @escaping (CKRecord, CKError?) -> Void,
    then next: @escaping () throws(CKError) -> ServiceCall?
  ) {
    remaining = records[...]
    self.isOptional = isOptional
    self.progress = progress
    self.deliver = deliver
    self.next = next
  }

  /// Delivers records until a record needs a download.
  ///
  /// - Returns: The call that downloads the first file of that record. After the last record, the
  ///   result of `next`.
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

  /// Returns the call that downloads the first of `assets`. If `assets` is empty, delivers `record`
  /// and continues with the next record.
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
      case .failure(let error)
      where isOptional || error.code == .unknownItem || error.code == .permissionFailure:
        return try fail(record, error.localizedDescription)
      case .failure(let error):
        throw error
      }
    }
  }

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
  /// Whether the asset must be downloaded: the server has its file and this process has not.
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
  ///   - records: The records in the server's answer. Records without assets need no download.
  ///   - isOptional: Whether the operation goes on without a file if the network or the server fails.
  ///   - progress: Called with a record and the fraction of its bytes that are downloaded, at most
  ///     0.99.
  ///   - deliver: Called with each record in order, and with an error if one of its assets cannot
  ///     be downloaded.
  ///   - next: Returns the call that follows the downloads; nil ends the operation.
  /// - Returns: The next call of the operation; nil when there is none.
  func downloadAssets(
    of records: [CKRecord], isOptional: Bool = false,
    progress: @escaping (CKRecord, Double) -> Void = { _, _ in },
    deliver: @escaping (CKRecord, CKError?) -> Void,
    then next: @escaping () throws(CKError) -> ServiceCall? = { () throws(CKError) in nil }
  ) throws(CKError) -> ServiceCall? {
    try AssetDownload(
      of: records, isOptional: isOptional, progress: progress, deliver: deliver, then: next
    ).proceed()
  }
}
