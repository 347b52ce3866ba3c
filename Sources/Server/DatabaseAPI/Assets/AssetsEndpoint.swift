import CloudKitModel
import Cryptography
import Foundation
import Storage
import StoreModel
import WebServices

/// The endpoint of `assets/upload` and `assets/rereference`.
struct AssetsEndpoint: Sendable {
  let store: AssetService
  let databases: DatabaseDirectory
  let links: AssetLinks

  var operations: [Operation] {
    [
      Operation(
        "assets/upload", of: .anyDatabase, for: .accounts, .changes, upload,
        .init(
          "Assets", "Ask for URLs to upload files to",
          answer:
            "One URL for each field, in order, good for \(ServiceLimits.uploadURLLifetime / 60) minutes."
        )),
      Operation(
        "assets/rereference", of: .anyDatabase, for: .accounts, .changes, rereference,
        .init(
          "Assets", "Get receipts for files that records hold", "All or none.",
          answer: "One dictionary for each place, in order.")),
    ]
  }

  /// Answers `assets/upload`: one upload URL for each field, in the order of the request.
  ///
  /// An upload URL is valid for `ServiceLimits.uploadURLLifetime` seconds. The store keeps only the
  /// hash of the secret in the URL. The answer has a new record name for each record without a
  /// name.
  ///
  /// - Throws: `QUOTA_EXCEEDED` if the quota of the database is used up; `ZONE_NOT_FOUND` for an
  ///   unknown zone.
  private func upload(
    _ request: UploadAssetsRequest, _ context: RequestContext
  ) async throws -> UploadAssetsResponse {
    let user = try context.user()
    let database = try await store.databaseOfFiles(
      inZone: request.zoneID, of: databases.database(for: context))
    if let quota = context.databaseQuota, let usage = try await databases.store.usage(of: database)
    {
      for token in request.tokens {
        try usage.check(
          adding: 1, to: quota, for: token.fieldName, isOwners: context.scope() != .shared)
      }
    }
    let expires = context.now.advanced(bySeconds: Double(ServiceLimits.uploadURLLifetime))
    var uploads: [AssetUpload] = []
    var tokens: [UploadAssetsResponse.Token] = []
    for token in request.tokens {
      let secret = Base64URL.encode(SecureRandom.bytes(count: 32))
      uploads.append(
        AssetUpload(
          receipt: Self.makeReceipt(), tokenHash: SHA256.hash(secret.utf8),
          userRecordName: user, recordName: token.recordName, recordType: token.recordType,
          fieldName: token.fieldName, expires: expires))
      tokens.append(
        UploadAssetsResponse.Token(
          recordName: token.recordName ?? UUID().uuidString, fieldName: token.fieldName,
          url: try links.uploadURL(to: database, secret: secret)))
    }
    try await store.addAssetUploads(uploads, inZone: request.zoneID, of: database)
    return UploadAssetsResponse(tokens: tokens)
  }

  /// Answers `assets/rereference`: asset dictionaries with new receipts, with which the caller can
  /// save the same files in other records. If one item fails, the whole request fails.
  private func rereference(
    _ request: RereferenceAssetsRequest, _ context: RequestContext
  ) async throws -> RereferenceAssetsResponse {
    let user = try context.user()
    let database = try await databases.database(for: context)
    let assets = try await store.rereferenceAssets(
      request.assets.map { AssetPlace(recordName: $0.recordName, fieldName: $0.fieldName) },
      inZone: request.zoneID, of: database, for: user, timestamp: context.now,
      makeReceipt: Self.makeReceipt)
    return RereferenceAssetsResponse(assets: assets.map(\.complete))
  }

  /// Returns a new receipt, which proves an upload when a record is saved: 24 random bytes in
  /// base64url.
  @Sendable private static func makeReceipt() -> String {
    Base64URL.encode(SecureRandom.bytes(count: 24))
  }
}
