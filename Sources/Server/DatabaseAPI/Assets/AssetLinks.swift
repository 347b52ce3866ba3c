import CloudKitModel
import Cryptography
import Foundation
import Storage
import StoreModel
import Synchronization
import WebServices

/// The maker and parser of asset URLs: for the upload of an asset's bytes, and for their download.
///
/// A download URL contains the time at which it expires, and a signature, so that only the servers
/// of the store can make one. A request for it needs no other credential, so a client may pass the
/// URL to another client.
package final class AssetLinks: Sendable {
  /// Seconds for which a download URL is valid, counted from the answer that contains it. The store
  /// keeps a file that no record refers to any more for at least the same time.
  static let lifetime = 3600.0
  /// The beginning of the path of every asset URL.
  package static let prefix = "/assets/"

  /// The parsed form of an asset URL.
  enum Target: Sendable, Hashable {
    /// The URL for the bytes of an upload that `assets/upload` announced.
    case upload(DatabaseID, secret: String)
    /// The URL of the bytes of an asset, which the SHA-256 hash of the bytes names.
    case download(File)
  }

  /// An asset that a download URL leads to.
  ///
  /// The URL of a file of another user names the reader's shared database, and so the reader. Whether
  /// the reader may still see a record with the file is checked at each download.
  struct File: Sendable, Hashable {
    /// The database of the request whose answer has the URL.
    var database: DatabaseID
    var checksum: String
    /// How the reader sees the file, for a shared database; otherwise nil.
    var sight: FileSight?

    /// The text that the signature of the URL covers. The end is in milliseconds since 1970.
    fileprivate func signed(until end: Int64) -> String {
      let text = "\(database.rawValue) \(checksum) \(end)"
      return sight.map { "\(text) \($0.parameter.name) \($0.parameter.value)" } ?? text
    }
  }

  private let store: SecretService
  private let clock: @Sendable () -> Timestamp
  private let publicURL: @Sendable () -> String
  /// The key that signs download URLs; nil until the first use.
  private let key = Mutex<[UInt8]?>(nil)

  /// `publicURL` returns the URL at which clients reach the server, without a slash at the end.
  package init(
    store: SecretService, clock: @escaping @Sendable () -> Timestamp,
    publicURL: @escaping @Sendable () -> String
  ) {
    self.store = store
    self.clock = clock
    self.publicURL = publicURL
  }

  /// Returns the path of an upload URL for the log, without the secret; nil for any other path.
  static func uploadPathWithoutSecret(_ path: String) -> String? {
    path.hasPrefix(prefix) && path.contains("/upload/") ? prefix + "…/upload/…" : nil
  }

  /// The secret in the URL is the only credential for the upload.
  func uploadURL(to database: DatabaseID, secret: String) throws -> String {
    "\(publicURL())\(Self.prefix)\(try store.tokens.name(of: database))/upload/\(secret)"
  }

  /// Parses the path and the query of an asset URL.
  ///
  /// - Throws: `NOT_FOUND` for another path, and for a download URL without a complete query.
  ///   `ACCESS_DENIED` for a download URL that no server of this store signed, or that has expired.
  func target(
    ofPath path: String, sight: FileSight?, expires: String?, signature: String?
  ) async throws -> Target {
    let parts = path.dropFirst(Self.prefix.count).split(
      separator: "/", omittingEmptySubsequences: false)
    guard parts.count >= 2, let database = store.tokens.database(named: parts[0]) else {
      throw Self.unknown
    }
    if parts.count == 3, parts[1] == "upload" {
      return .upload(database, secret: String(parts[2]))
    }
    guard parts.count == 2, let expires, let end = Int64(expires), let signature,
      let code = Base64URL.decode(signature)
    else { throw Self.unknown }
    let file = File(database: database, checksum: String(parts[1]), sight: sight)
    guard
      HMACSHA256.isCode(
        code, of: file.signed(until: end).utf8, key: try await signingKey())
    else {
      throw ServiceError(.accessDenied, "the download URL was not made by this server")
    }
    guard Timestamp(milliseconds: end) > clock() else {
      throw ServiceError(
        .accessDenied, "the download URL has expired; fetch the record again for a new one")
    }
    return .download(file)
  }

  static var unknown: ServiceError {
    ServiceError(.notFound, "there is no such asset URL")
  }

  /// Returns the key that signs download URLs. The first server of a store creates the key.
  private func signingKey() async throws -> [UInt8] {
    if let known = key.withLock({ $0 }) { return known }
    let key = try await store.secret(
      named: "asset-links", proposing: SecureRandom.bytes(count: 32))
    self.key.withLock { $0 = key }
    return key
  }

  // MARK: Records in answers

  /// Adds download URLs to the assets of the saved records in a change feed, and URLs to shares.
  ///
  /// Changes without assets and shares are returned unchanged, without a read of the key.
  package func linked(
    _ changes: [RecordChange], in database: DatabaseID
  ) async throws -> [RecordChange] {
    guard changes.contains(where: { Self.record(of: $0)?.needsLinks ?? false }) else {
      return changes
    }
    return try await signer(for: database).signed(changes)
  }

  /// Adds download URLs to the assets of all records in an answer, and URLs to shares, including the
  /// server's record in the error for a conflict.
  package func linked(
    _ items: [Result<RecordsResponse.Item, FailedItem>], in database: DatabaseID
  ) async throws -> [Result<RecordsResponse.Item, FailedItem>] {
    guard items.contains(where: { Self.record(of: $0)?.needsLinks ?? false }) else { return items }
    return try await signer(for: database).signed(items)
  }

  /// Adds download URLs to the assets of a record, and its URL to a share.
  ///
  /// - Parameter shortGUID: the identifier of the share by whose link the reader sees the record; nil
  ///   for a reader who sees it in the database.
  package func linked(
    _ record: Record, in database: DatabaseID, byLink shortGUID: String? = nil
  ) async throws -> Record {
    guard record.needsLinks else { return record }
    var signer = try await signer(for: database)
    signer.invitation = try shortGUID.flatMap { try store.tokens.shareOfFile($0) }
    return signer.signed(record)
  }

  private static func record(of change: RecordChange) -> Record? {
    if case .saved(let record) = change { record } else { nil }
  }

  private static func record(
    of item: Result<RecordsResponse.Item, FailedItem>
  ) -> Record? {
    switch item {
    case .success(.record(let record)): record
    case .success(.deleted): nil
    case .failure(let failed): failed.error.serverRecord
    }
  }

  /// Returns the maker of the download URLs for one answer. All these URLs expire at the same time.
  private func signer(for database: DatabaseID) async throws -> Signer {
    Signer(
      key: try await signingKey(), database: database, shares: ShareURL(publicURL: publicURL()),
      prefix: "\(publicURL())\(Self.prefix)\(try store.tokens.name(of: database))/",
      end: clock().advanced(bySeconds: Self.lifetime).milliseconds)
  }

  /// The maker of the download URLs of one answer.
  private struct Signer {
    var key: [UInt8]
    var database: DatabaseID
    var shares: ShareURL
    /// The beginning of the URLs: scheme, host and path up to the checksum.
    var prefix: String
    /// The time at which the URLs expire, in milliseconds since 1970.
    var end: Int64
    /// The name of the share by whose link the reader sees the records; nil for a reader who sees them
    /// in the database.
    var invitation: String?

    func signed(_ record: Record) -> Record {
      var record = shares.added(to: record)
      let ownerName = record.recordID.zoneID.ownerName
      let sight =
        invitation.map(FileSight.invitation)
        ?? (ownerName == ZoneID.currentOwnerName ? nil : .zones(ofOwner: ownerName))
      let parameter = sight.map { "&\($0.parameter.name)=\($0.parameter.value)" } ?? ""
      record.fields = record.fields.mapValues { value in
        value.mapAssets { asset in
          let file = File(database: database, checksum: asset.fileChecksum, sight: sight)
          let code = HMACSHA256.code(for: file.signed(until: end).utf8, key: key)
          var asset = asset.complete
          asset.downloadURL =
            "\(prefix)\(asset.fileChecksum)?expires=\(end)&signature=\(Base64URL.encode(code))"
            + parameter
          return asset
        }
      }
      return record
    }

    func signed(_ changes: [RecordChange]) -> [RecordChange] {
      changes.map { change in
        guard case .saved(let record) = change else { return change }
        return .saved(signed(record))
      }
    }

    func signed(
      _ items: [Result<RecordsResponse.Item, FailedItem>]
    ) -> [Result<RecordsResponse.Item, FailedItem>] {
      items.map { item in
        switch item {
        case .success(.record(let record)): return .success(.record(signed(record)))
        case .success(.deleted): return item
        case .failure(var failed):
          failed.error.serverRecord = failed.error.serverRecord.map(signed)
          return .failure(failed)
        }
      }
    }
  }
}

extension FileSight {
  fileprivate var parameter: (name: String, value: String) {
    switch self {
    case .zones(let owner): ("owner", owner)
    case .invitation(let share): ("share", share)
    }
  }

  init?(owner: String?, share: String?) {
    if let share {
      self = .invitation(share)
    } else if let owner {
      self = .zones(ofOwner: owner)
    } else {
      return nil
    }
  }
}

extension Record {
  /// Whether the record has an asset, or is a share. This check is cheaper than a copy of the record
  /// with URLs.
  fileprivate var needsLinks: Bool {
    shareContent != nil || fields.contains { $0.value.isAsset }
  }
}
