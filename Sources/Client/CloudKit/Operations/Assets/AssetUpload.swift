internal import CloudKitModel
internal import WebServices

/// A step of operations that save: uploads the files of records before the records are saved.
///
/// It asks for URLs by zone, 200 at a time, and sends one file after the other. What is wrong with
/// a file fails its record alone; when the network or the server fails, or the operation is
/// cancelled, the operation ends.
final class AssetUpload: @unchecked Sendable {
  // Unchecked: used on the operation's queue alone.

  /// A record to save.
  struct Save {
    var record: CKRecord
    /// Its assets that are to be uploaded are ``placeholder``s until they are.
    var operation: RecordOperation
    var files: [File]
    var failure: CKError?

    /// The assets by the checksums that the server found.
    fileprivate var uploaded: [String: CKAsset] = [:]
    fileprivate var progress: AssetProgress
  }

  /// A file to upload, and where its asset stands.
  struct File {
    var asset: CKAsset
    var url: URL
    var stamp: FileStamp
    var key: String
    /// In the field's list.
    var position: Int
  }

  /// Stands for an asset that the server does not know yet.
  static let placeholder = Asset(fileChecksum: "", size: -1)

  private struct Turn {
    var save: Int
    var file: File
    var url: URL?
  }

  private(set) var saves: [Save]
  private let makeCall: (UploadAssetsRequest) -> ServiceCall
  private let progress: (CKRecord, Double) -> Void
  private let next: () throws(CKError) -> ServiceCall?
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

  /// The next call that the uploads need, or what follows them.
  func proceed() throws(CKError) -> ServiceCall? {
    while let turn = turns.popFirst() {
      guard saves[turn.save].failure == nil, let call = try upload(turn) else { continue }
      return call
    }
    guard let group = groups.popFirst() else { return try next() }
    return announce(group.turns, inZone: group.zoneID)
  }

  /// Asks for the URLs of a group.
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
        "the server gave \(response.tokens.count) upload URLs, \(turns.count) were asked for")
    }
    return zip(turns, response.tokens).map { turn, token in
      var turn = turn
      turn.url = URL(string: token.url)
      return turn
    }
  }

  /// The call that sends a file; nil when its record has failed.
  private func upload(_ turn: Turn) throws(CKError) -> ServiceCall? {
    guard let url = turn.url else {
      throw CKError(.internalError, "the server gave an upload URL that is no URL")
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
        // A file that shrinks makes the server wait in vain: the change is what to tell.
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

  private func keep(_ asset: Asset, for turn: Turn) throws(CKError) {
    guard asset.size == turn.file.stamp.size else {
      throw CKError(
        .assetFileModified, "\(turn.file.name) had another size while it was uploaded")
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

  private func fail(_ turn: Turn, _ error: CKError) {
    if saves[turn.save].failure == nil { saves[turn.save].failure = error }
  }
}

extension AssetUpload.Save {
  /// A record, with the files that its save needs.
  ///
  /// Uploaded is what was put into a field since the record was fetched, and what lies on this
  /// machine; an asset that is only known to the server is named to it.
  ///
  /// - Throws: `assetFileNotFound`, and whatever keeps the record from being saved.
  init(
    of record: CKRecord, policy: CKModifyRecordsOperation.RecordSavePolicy
  ) throws(CKError) {
    self.record = record
    operation = try RecordOperation(
      saving: record, policy: policy, asset: { $0.storedAsset ?? AssetUpload.placeholder })
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
              + "'\(record.recordID.recordName)' is not there: "
              + (asset.fileURL?.path ?? "it was not downloaded"))
        }
        files.append(
          AssetUpload.File(asset: asset, url: url, stamp: stamp, key: key, position: position))
      }
    }
    progress = AssetProgress(total: files.reduce(0) { $0 + $1.stamp.size })
  }

  /// The object for an asset of the record as it was saved.
  func asset(savedAs stored: Asset) -> CKAsset? {
    let present =
      uploaded[stored.fileChecksum]
      ?? record.assets().first { $0.asset.storedAsset?.fileChecksum == stored.fileChecksum }?.asset
    return present?.saved(as: stored)
  }
}

extension AssetUpload.File {
  fileprivate var name: String { "the file \(url.path) of the asset in field '\(key)'" }

  /// What happened to the file since the operation began; nil when nothing did.
  fileprivate var change: CKError? {
    guard let now = FileStamp(url) else {
      return CKError(.assetFileNotFound, "\(name) is not there any more")
    }
    guard now == stamp else {
      return CKError(.assetFileModified, "\(name) changed while it was being saved")
    }
    return nil
  }
}

extension CKError {
  /// Whether the error is about what was sent, so that other items may fare better.
  fileprivate var isAboutItem: Bool {
    switch code {
    case .assetFileNotFound, .assetFileModified, .limitExceeded, .invalidArguments, .unknownItem,
      .permissionFailure, .quotaExceeded, .zoneNotFound:
      true
    default: false
    }
  }
}
