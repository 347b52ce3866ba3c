import CloudKitModel
import Cryptography
import Foundation
import StoreModel
import Synchronization
import WebServices

/// The URLs of assets: made for the answers, and read from requests.
///
/// A download URL is signed, so that nobody can make one, and names its end. It needs no other
/// credential: whoever was given it may pass it on while it lasts.
package final class AssetLinks: Sendable {
  /// Seconds that a download URL is good for, counted from the answer that has it. Files that lose
  /// their record are kept as long.
  static let lifetime = 3600.0
  package static let prefix = "/assets/"

  /// What a URL stands for.
  enum Target: Sendable, Hashable {
    case upload(DatabaseID, secret: String)
    case download(DatabaseID, checksum: String)
  }

  private let store: any SecretStore
  private let clock: @Sendable () -> Timestamp
  private let publicURL: @Sendable () -> String
  private let key = Mutex<[UInt8]?>(nil)

  package init(
    store: any SecretStore, clock: @escaping @Sendable () -> Timestamp,
    publicURL: @escaping @Sendable () -> String
  ) {
    self.store = store
    self.clock = clock
    self.publicURL = publicURL
  }

  /// Whether bytes for an upload go to this path.
  package static func isUpload(method: String, path: String) -> Bool {
    method == "POST" && path.hasPrefix(prefix)
  }

  func uploadURL(to database: DatabaseID, secret: String) throws -> String {
    "\(publicURL())\(Self.prefix)\(try store.tokens.name(of: database))/upload/\(secret)"
  }

  /// The target of a path and its query.
  ///
  /// - Throws: `NOT_FOUND` for a path that is none of these, `ACCESS_DENIED` for a download URL that
  ///   was not made here or has expired.
  func target(
    ofPath path: String, expires: String?, signature: String?
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
    let checksum = String(parts[1])
    guard
      HMACSHA256.isCode(
        code, of: Self.signed(database, checksum, end).utf8, key: try await signingKey())
    else {
      throw ServiceError(.accessDenied, "the download URL was not made by this server")
    }
    guard Timestamp(milliseconds: end) > clock() else {
      throw ServiceError(
        .accessDenied, "the download URL has expired; fetch the record again for a new one")
    }
    return .download(database, checksum: checksum)
  }

  static var unknown: ServiceError {
    ServiceError(.notFound, "there is no such asset URL")
  }

  private static func signed(_ database: DatabaseID, _ checksum: String, _ end: Int64) -> String {
    "\(database.rawValue) \(checksum) \(end)"
  }

  private func signingKey() async throws -> [UInt8] {
    if let known = key.withLock({ $0 }) { return known }
    let key = try await store.secret(
      named: "asset-links", proposing: SecureRandom.bytes(count: 32))
    self.key.withLock { $0 = key }
    return key
  }

  // MARK: Records in answers

  /// The record with a download URL and all other members in each of its assets.
  func linked(_ record: Record, in database: DatabaseID) async throws -> Record {
    guard Self.hasAssets(record) else { return record }
    let key = try await signingKey()
    let name = try store.tokens.name(of: database)
    let end = clock().advanced(bySeconds: Self.lifetime).milliseconds
    var record = record
    record.fields = record.fields.mapValues { value in
      value.mapAssets { asset in
        let code = HMACSHA256.code(
          for: Self.signed(database, asset.fileChecksum, end).utf8, key: key)
        var asset = asset.complete
        asset.downloadURL =
          "\(publicURL())\(Self.prefix)\(name)/\(asset.fileChecksum)"
          + "?expires=\(end)&signature=\(Base64URL.encode(code))"
        return asset
      }
    }
    return record
  }

  /// Asked before a record is handed on to be linked, which costs more than the look.
  private static func hasAssets(_ record: Record) -> Bool {
    record.fields.contains { $0.value.isAsset }
  }

  /// Changes with download URLs in the records that were saved.
  package func linked(
    _ changes: [RecordChange], in database: DatabaseID
  ) async throws -> [RecordChange] {
    var changes = changes
    for (index, change) in changes.enumerated() {
      guard case .saved(let record) = change, Self.hasAssets(record) else { continue }
      changes[index] = .saved(try await linked(record, in: database))
    }
    return changes
  }

  /// The items of an answer with download URLs in all their records, those of conflicts too.
  package func linked(
    _ items: [Result<RecordsResponse.Item, FailedItem>], in database: DatabaseID
  ) async throws -> [Result<RecordsResponse.Item, FailedItem>] {
    var items = items
    for (index, item) in items.enumerated() {
      switch item {
      case .success(.record(let record)):
        guard Self.hasAssets(record) else { continue }
        items[index] = .success(.record(try await linked(record, in: database)))
      case .failure(var failed):
        guard let record = failed.error.serverRecord else { continue }
        failed.error.serverRecord = try await linked(record, in: database)
        items[index] = .failure(failed)
      case .success(.deleted):
        continue
      }
    }
    return items
  }
}
