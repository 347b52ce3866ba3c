import CSQLite
import Foundation
import SQLEngine
import Storage
import StoreModel
import Synchronization

/// An inspection of a store's file, for `petrel doctor`. It changes nothing. A server may use the
/// store meanwhile.
public struct StoreExamination: Sendable, Hashable {
  /// The depth of an inspection.
  public enum Depth: Sendable, Hashable {
    /// All pages with their checksums, the contents of rows (SQLite's `quick_check`), and the
    /// sizes of asset files.
    case quick
    /// Also whether indexes agree with their tables (SQLite's `integrity_check`), and the
    /// checksums of asset files.
    case full
  }

  /// The schema version to which this program migrates stores.
  public static var newestVersion: Int64 { Schema.newestVersion }
  /// The oldest schema version that this program migrates.
  public static var oldestVersion: Int64 { Schema.oldestVersion }

  /// The schema version; nil for a file that is not a store, or whose damage hides it.
  public var schemaVersion: Int64?
  /// The damage found, one text for each fault, at most ten.
  public var faults: [String] = []
  /// Whether everything was checked within the time limit.
  public var isComplete = true
  /// Whether a server has the store open.
  public var isServed = false
  /// The size of the store's file in bytes.
  public var bytes = 0
  /// The size of the write-ahead log in bytes; 0 if there is none.
  public var logBytes = 0

  /// Creates the result for a file without damage.
  public init() {}

  /// Inspects a store's file on a thread of its own.
  ///
  /// - Parameter limit: the time for the checksums of pages, and again for the checks of rows and
  ///   asset files. The result has the damage found until then.
  /// - Throws: ``StoreError/Code/notFound`` if there is no such file, and
  ///   ``StoreError/Code/cannotOpen`` if the file cannot be read.
  public static func look(
    atStoreAt path: String, depth: Depth, within limit: Duration
  ) async throws -> StoreExamination {
    try await Store.onThread {
      let found = try examine(path, depth, limit, isAlone: Store.isUnused(at: path))
      guard !found.faults.isEmpty, !Store.isUnused(at: path) else { return found }
      // A server may have opened the store and written to it during the inspection. The found
      // damage may then be a page that was being written, so the store is inspected again.
      return try examine(path, depth, limit, isAlone: false)
    }
  }

  /// - Parameter isAlone: whether no program has the store open, so that its log need not be read.
  private static func examine(
    _ path: String, _ depth: Depth, _ limit: Duration, isAlone: Bool
  ) throws -> StoreExamination {
    var found = StoreExamination()
    guard let bytes = AssetFiles.size(of: path) else {
      throw StoreError(.notFound, "there is no store at '\(path)'")
    }
    found.bytes = bytes
    found.logBytes = AssetFiles.size(of: path + "-wal") ?? 0
    found.isServed = Store.isServed(at: path)
    guard bytes > 0 else { return found }
    if !found.isServed {
      let inspection = try StoreInspection(ofStoreAt: path, within: limit)
      found.isComplete = inspection.isComplete
      found.faults = inspection.faults
      guard inspection.faults.isEmpty else { return found }
    }
    if let fault = try headerFault(path) {
      found.faults = [fault]
      return found
    }
    do {
      try SQLiteConnection.checkLog(ofFileAt: path)
    } catch let error as StoreError where error.code == .cannotOpen {
      found.faults = [error.reason]
      return found
    }
    do {
      let connection = try SQLiteConnection(readingFileAt: path, isAlone: isAlone)
      defer { connection.close() }
      found.schemaVersion = StoreBackup.schemaVersion(of: connection)
      let timer = Interruption(of: connection, after: limit)
      defer { timer.end() }
      let check: Statement =
        depth == .full ? "PRAGMA integrity_check(10)" : "PRAGMA quick_check(10)"
      do {
        let rows = try connection.texts(check, [])
        found.faults = rows.flatMap { $0.split(separator: "\n") }.map(String.init)
          .filter { $0 != "ok" && !$0.hasPrefix("***") }
      } catch let error as StoreError where error.code == .corrupt {
        found.faults = [error.reason]
      } catch {
        if !timer.hasStruck { throw error }
      }
      let faultLimit = 10
      if found.faults.isEmpty, !timer.hasStruck {
        for asset in try StoreBackup.assets(of: connection) {
          guard found.faults.count < faultLimit, !timer.hasStruck else { break }
          if let fault = try assetFault(path + "-assets/" + asset.name, asset, depth, connection) {
            found.faults.append(fault)
          }
        }
      }
      if timer.hasStruck {
        found.isComplete = false
        // An interrupted check reports each page that it did not reach as a page that is never
        // used.
        found.faults.removeAll { $0.hasSuffix("is never used") }
      }
    } catch let error as StoreError where error.code == .corrupt {
      found.faults = [error.reason]
    }
    return found
  }

  /// Returns nil also for an asset that was deleted meanwhile.
  private static func assetFault(
    _ path: String, _ asset: (database: Int64, name: String, checksum: String, size: Int64),
    _ depth: Depth,
    _ connection: SQLiteConnection
  ) throws -> String? {
    let found: String
    switch AssetFiles.size(of: path) {
    case nil: found = "is missing"
    case let size? where Int64(size) != asset.size:
      found = "has \(size) bytes instead of \(asset.size)"
    default:
      // A file that cannot be read counts as damaged.
      guard depth == .full, (try? AssetFiles.checksum(of: path)) != asset.checksum else {
        return nil
      }
      found = "does not have the SHA-256 \(asset.checksum)"
    }
    let isThere = try connection.exists(
      "SELECT 1 FROM assets WHERE database_id = $1 AND checksum = $2",
      [.integer(asset.database), .text(asset.checksum)])
    return isThere ? "the file of an asset, '\(path)', \(found)" : nil
  }

  /// See https://sqlite.org/fileformat.html, section 1.3.
  private static func headerFault(_ path: String) throws -> String? {
    guard let file = FileHandle(forReadingAtPath: path),
      let header = try file.read(upToCount: 18), header.count == 18
    else {
      throw StoreError(.cannotOpen, "'\(path)' cannot be read")
    }
    guard header.starts(with: Data("SQLite format 3\0".utf8)) else {
      return "the file is not a SQLite database: its first bytes are different"
    }
    let size = Int(header[16]) << 8 | Int(header[17])
    guard size == PageCache.pageSize else {
      return "its pages have \(size) bytes instead of \(PageCache.pageSize)"
    }
    return nil
  }
}

/// A timer that interrupts a connection's statement. A lock protects the connection, so nothing is
/// interrupted after ``end()``.
private final class Interruption: Sendable {
  /// Guarded by the lock.
  private struct State: @unchecked Sendable {
    // Guarded by the lock, and nil after the end.
    var connection: SQLiteConnection?
    var hasStruck = false
  }

  private let state: Mutex<State>

  init(of connection: SQLiteConnection, after limit: Duration) {
    state = Mutex(State(connection: connection))
    DispatchQueue.global().asyncAfter(deadline: .now() + limit / .seconds(1)) { [weak self] in
      self?.strike()
    }
  }

  var hasStruck: Bool { state.withLock(\.hasStruck) }

  func end() { state.withLock { $0.connection = nil } }

  private func strike() {
    state.withLock { state in
      guard let connection = state.connection else { return }
      state.hasStruck = true
      connection.interruption()()
    }
  }
}

/// The identity of a folder for assets.
///
/// All servers on a store must use the same folder. The first server writes the same identity into
/// the folder and into the store; `petrel doctor` compares the two.
public enum AssetFolderIdentity: Sendable, Hashable {
  case known(String)
  case missing
  case unreadable(String)

  /// The file in the folder with the store's identity.
  public static let file = FileAssetStore.identityFile

  /// Inspects a folder. A file system that does not answer blocks the thread.
  public static func look(into directory: String) -> AssetFolderIdentity {
    do {
      return try FileAssetStore.identity(in: directory + "/" + file).map { .known($0) } ?? .missing
    } catch {
      return .unreadable((error as? StoreError)?.reason ?? "\(error)")
    }
  }
}
