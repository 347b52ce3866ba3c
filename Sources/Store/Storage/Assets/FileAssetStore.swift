import Foundation
import Glibc
import StoreModel
import Synchronization

/// A storage of assets as files in a folder, beside the store's own file by default.
///
/// A file is durable before its name is: bytes are written and synced under another name first.
/// Each database has a folder of its own, divided by the first two letters of the file names.
/// Servers that share a store share the folder. Each server has its own folder in it for arriving
/// files.
///
/// ```
/// petrel.sqlite-assets/
///   store-identity            the identity of a shared folder
///   arrivals/                 files that are being uploaded
///   12/                       the files of database 12
///     a7/a7Qx…                one file
/// ```
///
/// All blocking calls run on the queue of ``AssetFiles``. Several threads may use the object at the
/// same time.
public final class FileAssetStore: AssetStore {
  /// How the folder is used.
  public enum Use: Sendable, Hashable {
    /// One server uses the folder alone: files that an earlier process left in ``arrivals`` are
    /// removed at once.
    case alone
    /// A tool beside a server.
    ///
    /// The tool leaves the server's arriving files alone.
    case tool
    /// One of several servers.
    ///
    /// Arriving files are in a folder with a random name, ``arrivals``. Abandoned ones are removed
    /// by age (``removeLeftovers()``).
    case shared
  }

  /// The folder's path.
  let directory: String
  /// The folder for arriving files, in the same file system as the assets, so that a file is moved
  /// by renaming it. The value is never nil.
  public let arrivals: String?
  /// The way in which the folder is used, which decides how leftovers are removed.
  let use: Use
  /// The error text of all calls if the store's assets are in another folder, so that this folder
  /// may not be used; nil otherwise.
  private let refusal = Mutex<String?>(nil)

  /// Opens the folder, and creates it and its folder for arriving files if they are missing.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` if a folder cannot be created, or leftovers cannot be
  ///   removed.
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

  /// The server's folder for arriving files is removed when the object is released, unless the
  /// folder has files.
  deinit {
    if use == .shared, let arrivals { rmdir(arrivals) }
  }

  /// Whether the store's assets are in another folder.
  var isRefused: Bool { refusal.withLock { $0 != nil } }

  /// Makes all later calls fail with ``StoreError/Code/assetFailed`` and this reason.
  func refuse(because reason: String) { refusal.withLock { $0 = reason } }

  /// Checks that the folder may be used.
  ///
  /// - Throws: ``StoreError/Code/assetFailed`` after ``refuse(because:)``.
  private func checkFolder() throws {
    guard let reason = refusal.withLock({ $0 }) else { return }
    throw StoreError(.assetFailed, reason)
  }

  /// The folder of an asset: the database's number, then the first two letters of the file's name.
  private func folder(of name: AssetName) -> String {
    "\(directory)/\(name.database.rawValue)/\(name.file.prefix(2))"
  }

  private func path(of name: AssetName) -> String { "\(folder(of: name))/\(name.file)" }

  /// Keeps the bytes of an asset durably, and replaces earlier bytes under the name.
  ///
  /// A file is synced and then renamed into its folder. Its owner must not use it afterwards. Data
  /// is first written to a file in ``arrivals``.
  ///
  /// - Throws: ``StoreError/Code/assetFailed``. A file then stays where it was, unless the sync of
  ///   its new folder failed.
  public func keep(_ bytes: AssetBytes, as name: AssetName) async throws {
    try checkFolder()
    let folder = folder(of: name)
    let target = path(of: name)
    let arriving = (arrivals ?? directory) + "/\(UUID().uuidString)"
    try await AssetFiles.perform {
      let source: String
      switch bytes {
      case .file(let path): source = path
      case .data(let data):
        source = arriving
        try AssetFiles.write(data, to: source)
      }
      try AssetFiles.sync(source)
      try AssetFiles.makeFolder(folder)
      try AssetFiles.move(source, to: target)
      try AssetFiles.sync(folder)
    }
  }

  /// Opens an asset for reading; nil if there is none.
  ///
  /// The reader keeps the bytes readable even if the asset is removed meanwhile.
  ///
  /// - Throws: ``StoreError/Code/assetFailed`` if the file cannot be opened.
  public func open(_ name: AssetName) async throws -> (any AssetReader)? {
    try checkFolder()
    let path = path(of: name)
    return try await AssetFiles.perform { try FileAssetReader(path: path) }
  }

  /// Removes an asset's file. A missing file is no error.
  ///
  /// - Throws: ``StoreError/Code/assetFailed`` if the file cannot be removed.
  public func remove(_ name: AssetName) async throws {
    try checkFolder()
    let path = path(of: name)
    try await AssetFiles.perform {
      guard unlink(path) != 0, errno != ENOENT else { return }
      throw AssetFiles.failure("be removed", path)
    }
  }
}

/// A reader of one file through a descriptor of its own, so that the file may be removed meanwhile.
///
/// Reads use `pread`, which does not use the descriptor's position. So several reads may run at
/// once.
private final class FileAssetReader: AssetReader {
  let size: Int64
  private let descriptor: Int32
  private let path: String

  /// Opens the file; nil if there is no such file.
  ///
  /// - Throws: ``StoreError/Code/assetFailed`` for other failures.
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

  /// Returns `count` bytes from `offset` on; fewer if the file ends before.
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
