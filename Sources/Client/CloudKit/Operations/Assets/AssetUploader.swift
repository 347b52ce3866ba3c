internal import CloudKitModel
internal import WebServices

/// The upload of the files of records before an operation saves these records.
///
/// The step asks the server for upload URLs, for one zone and at most
/// `ServiceLimits.assetsPerRequest` (200) files in a request. Then it sends the files of this
/// request, one after the other.
///
/// An error of one file fails only the record of the file. Examples are a missing file and a full
/// quota. If the server refuses a request for URLs with such an error, all records of that request
/// fail. The operation ends when the network or the server fails, or when the program cancels it.
final class AssetUploader: @unchecked Sendable {
  // Unchecked: only the operation's callback queue uses this object.

  /// A record to save, with its files.
  struct Save {
    var record: CKRecord
    /// The record's ``CKRecord/Contents/editCount`` when the operation was made.
    let editCount: Int
    /// The operation of `records/modify` that saves the record. In its fields, ``placeholder``
    /// stands for an asset that still has to be uploaded. After the upload, the asset of the
    /// server's answer replaces it.
    var operation: RecordOperation
    var files: [File]
    /// The error of the first file that failed; nil while the record can still be saved.
    var failure: CKError?

    /// The uploaded assets. The keys are the checksums that the server computed.
    fileprivate var uploaded: [String: CKAsset] = [:]
    fileprivate var progress: AssetProgress
  }

  /// A file to upload, and the place of its asset in the record.
  struct File {
    /// The asset as the program put it into the record.
    var asset: CKAsset
    var url: URL
    var stamp: FileStamp
    var key: String
    /// The index of the asset in the field's list; 0 if the field has a single asset.
    var position: Int
  }

  /// The value that stands for an asset that the server does not know yet.
  static let placeholder = Asset(fileChecksum: "", size: -1)

  /// One upload: a file, its record and, after the server's answer, its URL.
  private struct Turn {
    var save: Int
    var file: File
    /// The upload URL. Nil before the server's answer, and if the answer has a text that is no URL.
    var url: URL?
  }

  /// The records to save. A record whose upload failed has a `failure`.
  private(set) var saves: [Save]
  private let makeCall: (UploadAssetsRequest) -> ServiceCall
  private let progress: (CKRecord, Double) -> Void
  private let next: () throws(CKError) -> ServiceCall?
  /// The uploads that have no URL yet. Each element is for one request of `assets/upload`.
  private var groups: ArraySlice<(zoneID: ZoneID, turns: [Turn])>
  private var turns: ArraySlice<Turn> = []

  init(
    of saves: [Save], progress: @escaping (CKRecord, Double) -> Void,
    makeCall: @escaping (UploadAssetsRequest) -> ServiceCall,
    then next: @escaping () throws(CKError) -> ServiceCall?
  ) {
    self.saves = saves
    self.progress = progress
    self.makeCall = makeCall
    self.next = next
    groups = Self.groups(of: saves)[...]
  }

  private static func groups(of saves: [Save]) -> [(zoneID: ZoneID, turns: [Turn])] {
    var groups: [(zoneID: ZoneID, turns: [Turn])] = []
    for (index, save) in saves.enumerated() {
      let zoneID = save.operation.recordID.zoneID
      for file in save.files {
        let open = groups.lastIndex {
          $0.zoneID == zoneID && $0.turns.count < ServiceLimits.assetsPerRequest
        }
        if open == nil { groups.append((zoneID, [])) }
        groups[open ?? groups.count - 1].turns.append(Turn(save: index, file: file))
      }
    }
    return groups
  }

  /// Returns the next call for the uploads: a request for URLs, or the transfer of a file. After
  /// the last upload, returns the result of `next`.
  ///
  /// Skips the remaining files of a record that has failed.
  func proceed() throws(CKError) -> ServiceCall? {
    while let turn = turns.popFirst() {
      guard saves[turn.save].failure == nil, let call = try upload(turn) else { continue }
      return call
    }
    guard let group = groups.popFirst() else { return try next() }
    return announce(group.turns, inZone: group.zoneID)
  }

  private func announce(_ group: [Turn], inZone zoneID: ZoneID) -> ServiceCall? {
    let tokens = group.map { turn in
      let operation = saves[turn.save].operation
      return UploadAssetsRequest.Token(
        recordName: operation.recordID.recordName,
        recordType: saves[turn.save].record.recordType, fieldName: turn.file.key)
    }
    var call = makeCall(UploadAssetsRequest(zoneID: zoneID, tokens: tokens))
    let group = Locked(group)
    call.receiver = { [self] result throws(CKError) in
      let group = group.withLock { $0 }
      do throws(CKError) {
        turns = try Self.turns(group, with: try result.get())[...]
      } catch  where error.isAboutItem {
        for turn in group { fail(turn, error) }
      }
      return try proceed()
    }
    return call
  }

  /// Returns `turns` with the upload URLs of the answer. The answer has the URLs in the order of
  /// the request.
  ///
  /// - Throws: `internalError` if the answer cannot be read or has another number of URLs.
  private static func turns(
    _ turns: [Turn], with answer: ServiceExchange.Answer
  ) throws(CKError) -> [Turn] {
    let response: UploadAssetsResponse
    do throws(ServiceError) {
      response = try UploadAssetsResponse(parsing: answer.body)
    } catch {
      throw CKError(unreadableAnswer: error)
    }
    guard response.tokens.count == turns.count else {
      throw CKError(
        .internalError,
        "the server's answer has \(response.tokens.count) upload URLs, but the request asked for "
          + "\(turns.count)")
    }
    return zip(turns, response.tokens).map { turn, token in
      var turn = turn
      turn.url = URL(string: token.url)
      return turn
    }
  }

  /// Returns the call that sends a file. If the file has changed, fails its record and returns nil.
  ///
  /// The file is compared with its stamp before the upload, at each report of progress, and after
  /// the upload.
  ///
  /// - Throws: `internalError` if the upload URL is no URL.
  private func upload(_ turn: Turn) throws(CKError) -> ServiceCall? {
    guard let url = turn.url else {
      throw CKError(
        .internalError, "the server's upload URL for \(turn.file.name) is not a valid URL")
    }
    if let error = turn.file.change {
      fail(turn, error)
      return nil
    }
    let transfer = ServiceCall.Transfer(direction: .upload(from: turn.file.url), url: url) {
      [self] count in
      reportProgress(of: turn, count)
      return turn.file.change
    }
    return ServiceCall(transfer) { [self] result throws(CKError) in
      do throws(CKError) {
        // If a file shrinks during the upload, the server waits for the missing bytes until the
        // request times out. So the timeout is only an effect of the change, and the record gets
        // the error of the change.
        if !isCancelled(result), let error = turn.file.change { throw error }
        try keep(try Self.asset(of: try result.get()), for: turn)
      } catch  where error.isAboutItem {
        fail(turn, error)
      }
      return try proceed()
    }
  }

  private func isCancelled(_ result: Result<ServiceExchange.Answer, CKError>) -> Bool {
    if case .failure(let error) = result { return error.code == .operationCancelled }
    return false
  }

  private func reportProgress(of turn: Turn, _ count: Int64) {
    if let fraction = saves[turn.save].progress.moved(min(count, turn.file.stamp.size)) {
      progress(saves[turn.save].record, fraction)
    }
  }

  private static func asset(of answer: ServiceExchange.Answer) throws(CKError) -> Asset {
    do throws(ServiceError) {
      return try UploadedAssetResponse(parsing: answer.body).asset
    } catch {
      throw CKError(unreadableAnswer: error)
    }
  }

  /// Replaces the placeholder in the record's save operation with the asset that the server stored.
  ///
  /// - Throws: `assetFileModified` if the server stored another number of bytes than the file had.
  private func keep(_ asset: Asset, for turn: Turn) throws(CKError) {
    guard asset.size == turn.file.stamp.size else {
      throw CKError(
        .assetFileModified, "the size of \(turn.file.name) changed during the upload")
    }
    var save = saves[turn.save]
    save.uploaded[asset.fileChecksum] = turn.file.asset
    var position = 0
    if let value = save.operation.fields[turn.file.key] {
      save.operation.fields[turn.file.key] = value?.mapAssets { present in
        defer { position += 1 }
        return position == turn.file.position ? asset : present
      }
    }
    let fraction = save.progress.finishFile(of: asset.size)
    saves[turn.save] = save
    if let fraction { progress(save.record, fraction) }
  }

  /// Fails the record of `turn`. If the record has failed before, its first error does not change.
  private func fail(_ turn: Turn, _ error: CKError) {
    if saves[turn.save].failure == nil { saves[turn.save].failure = error }
  }
}

extension AssetUploader.Save {
  /// Makes the save of a record and collects the files to upload.
  ///
  /// The files are those of the fields that the save sends. Each file that is on this machine is
  /// uploaded. If an asset has no file here and its field has not changed since the fetch, the
  /// request names the server's stored asset. An asset without a file in a changed field is an
  /// error.
  ///
  /// - Throws: `assetFileNotFound` if an asset needs an upload and its file does not exist.
  ///   Otherwise the errors of ``RecordOperation/init(saving:policy:asset:)``.
  init(
    of record: CKRecord, policy: CKModifyRecordsOperation.RecordSavePolicy
  ) throws(CKError) {
    self.record = record
    // Before the fields are read, so that no later change is taken for one that was sent.
    editCount = record.contents.withLock { $0.editCount }
    operation = try RecordOperation(
      saving: record, policy: policy, asset: { $0.storedAsset ?? AssetUploader.placeholder })
    files = []
    let changedKeys = Set(record.changedKeys())
    for (key, assets) in Dictionary(grouping: record.assets(), by: \.key).sorted(by: {
      $0.key < $1.key
    }) where operation.fields[key] != nil {
      for (position, (_, asset)) in assets.enumerated() {
        let stamp = asset.fileURL.flatMap { FileStamp($0) }
        let isKnown = asset.storedAsset != nil && !changedKeys.contains(key)
        if stamp == nil, isKnown { continue }
        guard let url = asset.fileURL, let stamp else {
          throw CKError(
            .assetFileNotFound,
            "the file of the asset in field '\(key)' of record "
              + "'\(record.recordID.recordName)' does not exist: "
              + (asset.fileURL?.path ?? "it was not downloaded"))
        }
        files.append(
          AssetUploader.File(asset: asset, url: url, stamp: stamp, key: key, position: position))
      }
    }
    progress = AssetProgress(total: files.reduce(0) { $0 + $1.stamp.size })
  }

  /// Returns the program's asset that the server saved as `stored`. The result also has the
  /// properties of `stored`.
  ///
  /// - Returns: Nil if neither the uploaded files nor the record has an asset with this checksum.
  func asset(savedAs stored: Asset) -> CKAsset? {
    let present =
      uploaded[stored.fileChecksum]
      ?? record.assets().first { $0.asset.storedAsset?.fileChecksum == stored.fileChecksum }?.asset
    return present?.saved(as: stored)
  }
}

extension AssetUploader.File {
  fileprivate var name: String { "the file \(url.path) of the asset in field '\(key)'" }

  /// The error for a file that has changed since the operation began; nil if the file is unchanged.
  /// A missing file gives `assetFileNotFound`, another change `assetFileModified`.
  fileprivate var change: CKError? {
    guard let now = FileStamp(url) else {
      return CKError(.assetFileNotFound, "\(name) no longer exists")
    }
    guard now == stamp else {
      return CKError(.assetFileModified, "\(name) changed during the upload")
    }
    return nil
  }
}

extension CKError {
  fileprivate var isAboutItem: Bool {
    switch code {
    case .assetFileNotFound, .assetFileModified, .limitExceeded, .invalidArguments, .unknownItem,
      .permissionFailure, .quotaExceeded, .zoneNotFound:
      true
    default: false
    }
  }
}
