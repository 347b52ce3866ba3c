import Foundation
import Glibc
import StoreModel

/// Second names for the files of assets, beside them, so that they stay while they are copied however
/// soon their records are deleted.
package final class AssetLinkFolder {
  private static let prefix = "backup-"

  private let assets: String
  private let folder: String

  /// - Parameter path: the store's file.
  package init(besideAssetsOf path: String) throws {
    assets = path + "-assets"
    folder = assets + "/\(Self.prefix)\(getpid())"
    removeLeftovers()
  }

  // What stays is removed at the next start.
  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// Gives a file its second name.
  ///
  /// - Parameter name: the file's path among the assets.
  package func add(_ name: String) throws {
    let target = folder + "/" + name
    if link(assets + "/" + name, target) == 0 { return }
    // The first of its folder. Nothing of this needs to outlive the process.
    try AssetFiles.makeFolder(AssetFiles.folder(of: target), isDurable: false)
    guard link(assets + "/" + name, target) == 0 else {
      throw AssetFiles.failure("be copied", assets + "/" + name)
    }
  }

  /// Copies a file durably, to the same path in another folder.
  ///
  /// - Throws: ``StoreError/Code/assetFailed`` also when what was copied does not have this SHA-256.
  package func copy(_ name: String, checksum: String, to other: String) throws {
    let target = other + "/" + name
    try AssetFiles.makeFolder(AssetFiles.folder(of: target))
    try AssetFiles.copy(folder + "/" + name, to: target)
    guard try AssetFiles.checksum(of: target) == checksum else {
      throw StoreError(
        .assetFailed,
        "the asset file \(assets)/\(name) is damaged: its SHA-256 is not the \(checksum) that it had when "
          + "it was uploaded; put back the file from a backup")
    }
    try AssetFiles.sync(target)
    try AssetFiles.sync(AssetFiles.folder(of: target))
  }

  /// What processes left that were killed.
  private func removeLeftovers() {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: assets)) ?? []
    for name in names where name.hasPrefix(Self.prefix) {
      let process = Int32(name.dropFirst(Self.prefix.count))
      guard let process, process == getpid() || kill(process, 0) != 0 else { continue }
      // What stays is tried again at the next start.
      try? FileManager.default.removeItem(atPath: assets + "/" + name)
    }
  }
}
