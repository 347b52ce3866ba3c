import Foundation
import Glibc
import StoreModel

/// Hard links to the files of assets, so that the files stay while they are copied even if their
/// records are deleted.
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

  // A failure is ignored: the next start removes the folder.
  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// Links a file.
  ///
  /// - Parameter name: the file's path in the asset folder.
  package func add(_ name: String) throws {
    let target = folder + "/" + name
    if link(assets + "/" + name, target) == 0 { return }
    // The first link in its folder. The folder need not outlive the process.
    try AssetFiles.makeFolder(AssetFiles.folder(of: target), isDurable: false)
    guard link(assets + "/" + name, target) == 0 else {
      throw AssetFiles.failure("be copied", assets + "/" + name)
    }
  }

  /// Copies a file durably to the same path in another folder.
  ///
  /// - Throws: ``StoreError/Code/assetFailed``, also if the copy's SHA-256 is not `checksum`.
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

  /// Removes the folders of killed processes.
  private func removeLeftovers() {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: assets)) ?? []
    for name in names where name.hasPrefix(Self.prefix) {
      let process = Int32(name.dropFirst(Self.prefix.count))
      guard let process, process == getpid() || kill(process, 0) != 0 else { continue }
      // A failure is ignored: the next start tries again.
      try? FileManager.default.removeItem(atPath: assets + "/" + name)
    }
  }
}
