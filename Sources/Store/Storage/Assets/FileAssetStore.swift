import Foundation
import Glibc
import StoreModel
import Synchronization

/// A storage of assets as files in a folder. By default the folder is beside the store's own file.
///
/// A file gets its final name only after its bytes are on the disk. Each database has a folder of
/// its own, with a subfolder for the first two characters of the file names. The servers that share
/// a store share the folder. Each of them has its own folder in it for arriving files: uploads that
/// are not complete yet.
///
/// ```
/// petrel.sqlite-assets/
///   store-identity            the identity of a shared folder
///   arrivals/                 files that are being uploaded
///   12/                       the files of database 12
///     a7/a7Qx…                one file
/// ```
///
/// All blocking calls after the initializer run on the queue of ``AssetFiles``.
public final class FileAssetStore: AssetStore {
  /// How the folder is used.
  public enum Use: Sendable, Hashable {
    /// One server uses the folder alone. The initializer removes the files that an earlier process
    /// left in ``arrivals``.
    case alone
    /// A tool uses the folder beside a server, and leaves the server's arriving files.
    case tool
    /// Several servers share the folder, and the object belongs to one of them. Its ``arrivals`` is
    /// a folder with a random name. ``removeLeftovers()`` removes old files of other servers.
    case shared
  }

  let directory: String
  /// The folder for arriving files, never nil. It is in the same file system as the assets, so a
  /// file can be moved by renaming it.
  public let arrivals: String?
  let use: Use
  /// The error text of later calls if the store's assets are in another folder.
  private let refusal = Mutex<String?>(nil)

  /// Creates the folder and its folder for arriving files if they are missing.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` if a folder cannot be created, or the files of an
  ///   earlier process cannot be removed.
  public init(directory: String, use: Use) throws {
    self.directory = directory
    self.use = use
    let all = directory + "/arrivals"
    let arrivals = use == .shared ? "\(all)/\(UUID().uuidString)" : all
    self.arrivals = arrivals
    do {
      if use == .alone, FileManager.default.fileExists(atPath: arrivals) {
        try FileManager.default.removeItem(atPath: arrivals)
      }
      try AssetFiles.makeFolder(arrivals)
    } catch {
      throw StoreError(.cannotOpen, "the folder of assets \(directory) cannot be created: \(error)")
    }
  }

  deinit {
    if use == .shared, let arrivals { rmdir(arrivals) }
  }

  var isRefused: Bool { refusal.withLock { $0 != nil } }

  /// Makes all later calls that store, open or remove an asset fail with
  /// ``StoreError/Code/assetFailed`` and this text.
  func refuse(because reason: String) { refusal.withLock { $0 = reason } }

  private func checkFolder() throws {
    guard let reason = refusal.withLock({ $0 }) else { return }
    throw StoreError(.assetFailed, reason)
  }

  private func folder(of name: AssetName) -> String {
    "\(directory)/\(name.database.rawValue)/\(name.file.prefix(2))"
  }

  private func path(of name: AssetName) -> String { "\(folder(of: name))/\(name.file)" }

  /// A given file is synced and then moved. Bytes in memory are first written to ``arrivals``.
  ///
  /// - Throws: ``StoreError/Code/assetFailed``. The caller's file then stays at its path, unless
  ///   the last sync, of the asset's folder, failed.
  public func keep(_ bytes: AssetBytes, as name: AssetName) async throws {
    try checkFolder()
    let folder = folder(of: name)
    let target = path(of: name)
    let arriving = (arrivals ?? directory) + "/\(UUID().uuidString)"
    try await AssetFiles.perform {
      func keep(_ source: String) throws {
        try AssetFiles.sync(source)
        try AssetFiles.makeFolder(folder)
        try AssetFiles.move(source, to: target)
        try AssetFiles.sync(folder)
      }
      switch bytes {
      case .file(let path):
        try keep(path)
      case .data(let data):
        try AssetFiles.write(data, to: arriving)
        // Nobody else knows this file, so it must not stay after a failure.
        defer { unlink(arriving) }
        try keep(arriving)
      }
    }
  }

  /// The reader can read all bytes even if the asset is removed meanwhile.
  public func open(_ name: AssetName) async throws -> (any AssetReader)? {
    try checkFolder()
    let path = path(of: name)
    return try await AssetFiles.perform { try FileAssetReader(path: path) }
  }

  /// Removes an asset's file. A missing file is no error.
  public func remove(_ name: AssetName) async throws {
    try checkFolder()
    let path = path(of: name)
    try await AssetFiles.perform {
      guard unlink(path) != 0, errno != ENOENT else { return }
      throw AssetFiles.failure("be removed", path)
    }
  }
}

/// A reader of one file with a descriptor of its own, so it outlives the file's name. `pread` does
/// not use the descriptor's position, so several reads may run at once.
private final class FileAssetReader: AssetReader {
  let size: Int64
  private let descriptor: Int32
  private let path: String

  init?(path: String) throws {
    self.path = path
    descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      size = 0
      if errno == ENOENT { return nil }
      throw AssetFiles.failure("be opened", path)
    }
    size = Int64(lseek(descriptor, 0, SEEK_END))
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  func read(at offset: Int64, count: Int) async throws -> Data {
    try await AssetFiles.perform { [self] in
      var data = Data(count: count)
      var filled = 0
      while filled < count {
        let more = data.withUnsafeMutableBytes { buffer in
          pread(
            descriptor, buffer.baseAddress.map { $0 + filled }, count - filled,
            off_t(offset) + off_t(filled))
        }
        if more < 0, errno == EINTR { continue }
        guard more >= 0 else { throw AssetFiles.failure("be read", path) }
        if more == 0 { break }
        filled += more
      }
      return data.prefix(filled)
    }
  }
}
