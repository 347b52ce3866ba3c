internal import CloudKitModel

/// A step of operations that fetch: downloads the assets of records one after the other.
///
/// Each record is delivered when its assets are there. A file that the server does not have any
/// more fails its record with `assetNotAvailable`; when the network or the server fails, or the
/// operation is cancelled, the operation ends.
final class AssetDownload: @unchecked Sendable {
  // Unchecked: used on the operation's queue alone.

  private var remaining: ArraySlice<CKRecord>
  private let progress: (CKRecord, Double) -> Void
  private let deliver: (CKRecord, CKError?) -> Void
  private let next: () throws(CKError) -> ServiceCall?
  private var assets: ArraySlice<CKAsset> = []
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

  /// Delivers records until one needs a file, and answers the call that fetches it.
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

  /// The call that fetches the first of the assets.
  private func fetch(for record: CKRecord) throws(CKError) -> ServiceCall? {
    guard let asset = assets.first else {
      remaining.removeFirst()
      deliver(record, nil)
      return try proceed()
    }
    guard let text = asset.storedAsset?.downloadURL, let url = URL(string: text) else {
      return try fail(record, "its download URL is no URL")
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
  fileprivate var isDownloadable: Bool { fileURL == nil && storedAsset?.downloadURL != nil }
}

extension CKDatabaseOperation {
  /// Downloads the assets of records that an answer brought, and goes on: what an override of
  /// `receive(_:)` returns.
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
  ///   - progress: called with fractions below 1 while a record's assets come.
  ///   - deliver: called for each record in order, with the reason when an asset is not to be had.
  ///   - next: the call that follows; nil ends the operation.
  func downloadAssets(
    of records: [CKRecord], progress: @escaping (CKRecord, Double) -> Void = { _, _ in },
    deliver: @escaping (CKRecord, CKError?) -> Void,
    then next: @escaping () throws(CKError) -> ServiceCall? = { () throws(CKError) in nil }
  ) throws(CKError) -> ServiceCall? {
    try AssetDownload(of: records, progress: progress, deliver: deliver, then: next).proceed()
  }
}
