import Foundation
import Glibc

// Removes files that dead servers left in a shared folder. Only a file's age shows that it was
// abandoned. All ages are by the file system's clock, which all servers share.
extension FileAssetStore {
  /// The age in seconds at which an untouched arriving file counts as abandoned. No upload takes as
  /// long, and a server touches its own folder more often.
  static let leftoverAge = 24.0 * 60 * 60

  /// Removes the arriving files of other servers that were not touched for ``leftoverAge``, and
  /// marks this server's folder as used.
  ///
  /// The method does nothing unless several servers share the folder.
  ///
  /// - Throws: ``StoreError/Code/assetFailed`` if this server's own folder cannot be touched.
  public func removeLeftovers() async throws {
    try await removeLeftovers(olderThan: Self.leftoverAge)
  }

  /// Removes arriving files that are older than `age` seconds, and empty folders of that age.
  ///
  /// The method first touches the server's own folder, and takes that modification time as the
  /// present. So all ages are by the file system's clock, not by the server's.
  func removeLeftovers(olderThan age: Double) async throws {
    guard use == .shared, let own = arrivals else { return }
    let all = directory + "/arrivals"
    try await AssetFiles.perform {
      try AssetFiles.makeFolder(own)
      guard utimes(own, nil) == 0, let now = AssetFiles.modified(own) else {
        throw AssetFiles.failure("be touched", own)
      }
      let manager = FileManager.default
      for name in try manager.contentsOfDirectory(atPath: all) {
        let path = all + "/" + name
        // Files in the folder itself were left by a server that used the store alone.
        for file in (try? manager.contentsOfDirectory(atPath: path)) ?? [] {
          Self.remove(path + "/" + file, before: now - age) { unlink($0) }
        }
        if path == own { continue }
        Self.remove(path, before: now - age) { rmdir($0) != 0 ? unlink($0) : 0 }
      }
    }
  }

  /// Calls `body` for a path that was last modified before `horizon`, in seconds since 1970.
  /// Failures are ignored: a file that another server removes first is gone as well.
  private static func remove(
    _ path: String, before horizon: Double, _ body: (String) -> Int32
  ) {
    guard let modified = AssetFiles.modified(path), modified < horizon else { return }
    _ = body(path)
  }
}

extension AssetFiles {
  /// The modification time in seconds since 1970; nil if there is no file.
  static func modified(_ path: String) -> Double? {
    var information = stat()
    guard lstat(path, &information) == 0 else { return nil }
    return Double(information.st_mtim.tv_sec) + Double(information.st_mtim.tv_nsec) / 1e9
  }
}
