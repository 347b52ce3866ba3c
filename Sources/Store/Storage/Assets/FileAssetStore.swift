import Foundation
import Glibc
import StoreModel
import Synchronization

/// Stores assets as files in a folder beside the store's own file.
///
/// A file is durable before its name is: bytes are written and synced under another name first.
/// Each database has a folder of its own, divided by the first two letters of the file names.
/// Servers that share a store share the folder. Each server has its own folder in it for arriving
/// files.
public final class FileAssetStore: AssetStore {
  /// How the folder is used.
  public enum Use: Sendable, Hashable {
    /// One server uses the folder alone: files that an earlier process left in ``arrivals`` are
    /// removed at once.
    case alone
    /// A tool beside a server.
    case tool
    /// One of several servers.
    case shared
  }

  let directory: String
  public let arrivals: String?
  let use: Use
  /// Why this folder may not be used: the store's assets are in another folder. Nil otherwise.
  private let refusal = Mutex<String?>(nil)

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
      throw StoreError(.cannotOpen, "the folder of assets \(directory) cannot be made: \(error)")
    }
  }

  /// A server's own folder is removed with the server, unless it has files left.
  deinit {
    if use == .shared, let arrivals { rmdir(arrivals) }
  }

  /// Whether the store's assets are in another folder.
  var isRefused: Bool { refusal.withLock { $0 != nil } }

  /// Makes all later calls fail.
  func refuse(because reason: String) { refusal.withLock { $0 = reason } }

  private func checkFolder() throws {
    guard let reason = refusal.withLock({ $0 }) else { return }
    throw StoreError(.assetFailed, reason)
  }

  private func folder(of name: AssetName) -> String {
    "\(directory)/\(name.database.rawValue)/\(name.file.prefix(2))"
  }

  private func path(of name: AssetName) -> String { "\(folder(of: name))/\(name.file)" }

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

  public func open(_ name: AssetName) async throws -> (any AssetReader)? {
    try checkFolder()
    let path = path(of: name)
    return try await AssetFiles.perform { try FileAssetReader(path: path) }
  }

  public func remove(_ name: AssetName) async throws {
    try checkFolder()
    let path = path(of: name)
    try await AssetFiles.perform {
      guard unlink(path) != 0, errno != ENOENT else { return }
      throw AssetFiles.failure("be removed", path)
    }
  }
}

/// Reads a file through a descriptor of its own.
private final class FileAssetReader: AssetReader {
  let size: Int64
  private let descriptor: Int32
  private let path: String

  /// Nil if there is no such file.
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
