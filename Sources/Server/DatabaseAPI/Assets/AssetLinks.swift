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

  /// Changes with download URLs and all other members in the assets of the records that were saved.
  package func linked(
    _ changes: [RecordChange], in database: DatabaseID
  ) async throws -> [RecordChange] {
    guard changes.contains(where: { Self.record(of: $0)?.hasAssets ?? false }) else {
      return changes
    }
    return try await signer(for: database).signed(changes)
  }

  /// The items of an answer with download URLs in all their records, those of conflicts too.
  package func linked(
    _ items: [Result<RecordsResponse.Item, FailedItem>], in database: DatabaseID
  ) async throws -> [Result<RecordsResponse.Item, FailedItem>] {
    guard items.contains(where: { Self.record(of: $0)?.hasAssets ?? false }) else { return items }
    return try await signer(for: database).signed(items)
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

  private func signer(for database: DatabaseID) async throws -> Signer {
    Signer(
      key: try await signingKey(), database: database,
      prefix: "\(publicURL())\(Self.prefix)\(try store.tokens.name(of: database))/",
      end: clock().advanced(bySeconds: Self.lifetime).milliseconds)
  }

  /// Makes the download URLs of one answer.
  private struct Signer {
    var key: [UInt8]
    var database: DatabaseID
    /// What the URLs begin with.
    var prefix: String
    /// When they end to work, in milliseconds since 1970.
    var end: Int64

    func signed(_ record: Record) -> Record {
      var record = record
      record.fields = record.fields.mapValues { value in
        value.mapAssets { asset in
          let code = HMACSHA256.code(
            for: AssetLinks.signed(database, asset.fileChecksum, end).utf8, key: key)
          var asset = asset.complete
          asset.downloadURL =
            "\(prefix)\(asset.fileChecksum)?expires=\(end)&signature=\(Base64URL.encode(code))"
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

extension Record {
  /// Asked before a record is handed on to be signed, which costs more than the look.
  fileprivate var hasAssets: Bool {
    fields.contains { $0.value.isAsset }
  }
}
