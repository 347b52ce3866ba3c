import Foundation
import Glibc
import Storage
import StoreModel

extension StoreMover {
  private static let listedMissingAssets = 100

  /// Copies the files that the target's folder lacks, checks their sizes, and syncs them. Missing
  /// files of the source are noted in ``StoreMove/Result/missingAssets``.
  ///
  /// - Parameter step: called after each file, copied or not.
  /// - Throws: ``StoreError/Code/assetFailed`` if a file has another size than the store says, or
  ///   if a store has no folder for assets.
  func copyAssets(_ step: () -> Void) throws {
    try source.connection.query(
      "SELECT database_id, file, size FROM assets ORDER BY database_id, checksum", []
    ) { row in
      let file = row.text(1)
      let name = "\(row.integer(0))/\(file.prefix(2))/\(file)"
      guard let from = source.location.assets, let to = target.location.assets else {
        throw StoreError(
          .assetFailed, "the store has assets, but there is no folder for their files")
      }
      try copyAsset(name, from: from + "/" + name, to: to + "/" + name, size: Int(row.integer(2)))
      step()
    }
    try copyIdentity()
  }

  /// The moved store has the same identity, and refuses a folder with another one.
  private func copyIdentity() throws {
    guard let from = source.location.assets, let to = target.location.assets,
      let identity = FileManager.default.contents(
        atPath: from + "/" + FileAssetStore.identityFile)
    else { return }
    try AssetFiles.makeFolder(to)
    let path = to + "/" + FileAssetStore.identityFile
    if FileManager.default.contents(atPath: path) == identity { return }
    let partial = path + "~"
    unlink(partial)
    try AssetFiles.write(identity, to: partial)
    try AssetFiles.sync(partial)
    guard rename(partial, path) == 0 else { throw AssetFiles.failure("be made", path) }
    try AssetFiles.sync(to)
  }

  /// Does nothing if the target has a file of the right size. The copy has a temporary name until
  /// it is synced.
  private func copyAsset(
    _ name: String, from source: String, to target: String, size: Int
  ) throws {
    guard let found = AssetFiles.size(of: source) else {
      // The file was missing before the move, so the move continues without it.
      if result.missingAssets.count < Self.listedMissingAssets { result.missingAssets.append(name) }
      return
    }
    guard found == size else {
      throw StoreError(
        .assetFailed,
        "the asset file \(source) is damaged: it has \(found) bytes instead of \(size)")
    }
    result.assets += 1
    result.assetBytes += Int64(size)
    if AssetFiles.size(of: target) == size { return }
    let folder = AssetFiles.folder(of: target)
    try AssetFiles.makeFolder(folder)
    let partial = target + "~"
    unlink(partial)
    try AssetFiles.copy(source, to: partial)
    try AssetFiles.sync(partial)
    guard AssetFiles.size(of: partial) == size else {
      throw StoreError(
        .assetFailed, "the asset file \(source) was not copied completely to \(target)")
    }
    guard rename(partial, target) == 0 else { throw AssetFiles.failure("be made", target) }
    try AssetFiles.sync(folder)
  }
}
