import Cryptography
import Foundation
import Glibc
import SQLEngine
import StoreModel

// Checks that all servers of a store use the same folder for assets, so that each server finds the
// files that another server stored. A file in the folder has the folder's identity, a random text.
// The store has the same text.
extension FileAssetStore {
  package static let identityFile = "store-identity"

  /// Returns the folder's identity. A folder without one gets 32 random hexadecimal digits. The
  /// method syncs them in a file of another name and adds a hard link with the final name, so that
  /// file is never incomplete.
  /// - Throws: ``StoreError/Code/cannotOpen`` if the file cannot be read or has no valid identity,
  ///   and ``StoreError/Code/assetFailed`` if the file cannot be written.
  func identity() throws -> (text: String, isNew: Bool) {
    let path = directory + "/" + Self.identityFile
    if let known = try Self.identity(in: path) { return (known, false) }
    let proposed = SecureRandom.bytes(count: 16).hexadecimal
    let arriving = (arrivals ?? directory) + "/" + UUID().uuidString
    try AssetFiles.write(Data((proposed + "\n").utf8), to: arriving)
    defer { unlink(arriving) }
    try AssetFiles.sync(arriving)
    // If two servers start at the same moment, only one link succeeds. Both servers then read that
    // link's file.
    guard link(arriving, path) == 0 || errno == EEXIST else {
      throw AssetFiles.failure("be made", path)
    }
    try AssetFiles.sync(directory)
    let text = try Self.identity(in: path) ?? proposed
    return (text, text == proposed)
  }

  func removeIdentity() { unlink(directory + "/" + Self.identityFile) }

  /// Checks that this folder is the one that the store's other servers use.
  ///
  /// The first server stores its folder's identity in the store, as the secret `asset-folder`. Each
  /// later server compares its own. If they differ, the result depends on the store:
  ///
  /// - The store has no assets and no uploads: the server may start, but it cannot store assets
  ///   (``refuse(because:)``).
  /// - The store has assets or uploads: the method throws.
  ///
  /// In both cases, the method removes an identity that it has just created in the folder.
  ///
  /// - Parameter transaction: must have no open transaction. The method begins and commits one.
  func bind(to transaction: StoreTransaction) throws {
    let (identity, isNew) = try self.identity()
    try transaction.connection.beginWriting()
    let (known, hasAssets) = try transaction.connection.committing {
      (
        String(
          decoding: try SecretTable(transaction: transaction).secret(
            named: "asset-folder", proposing: Array(identity.utf8)),
          as: UTF8.self),
        try AssetTable(transaction: transaction).containsAny()
      )
    }
    guard known != identity else { return }
    if isNew { removeIdentity() }
    let reason =
      "the folder \(directory) is not the folder of this store's assets: all servers of a store "
      + "must use the same folder, for example on a network file system that each has mounted. "
      + (isNew
        ? "If the folder has the files but not their \(FileAssetStore.identityFile), write the "
          + "line \(known) into \(directory)/\(FileAssetStore.identityFile)"
        : "The \(FileAssetStore.identityFile) in it belongs to another store")
    if hasAssets { throw StoreError(.cannotOpen, reason) }
    refuse(because: reason)
  }

  /// - Throws: ``StoreError/Code/cannotOpen`` if the file cannot be read, or its trimmed text is
  ///   empty or has more than 255 bytes.
  package static func identity(in path: String) throws -> String? {
    guard let data = FileManager.default.contents(atPath: path) else {
      guard access(path, F_OK) != 0 else {
        throw StoreError(.cannotOpen, "\(path) cannot be read")
      }
      return nil
    }
    let text = String(decoding: data, as: UTF8.self).trimmingCharacters(
      in: .whitespacesAndNewlines)
    guard !text.isEmpty, text.utf8.count <= 255 else {
      throw StoreError(
        .cannotOpen, "\(path) does not contain an identity; restore the original file")
    }
    return text
  }
}
