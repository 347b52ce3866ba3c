import CSQLite
import Foundation
import SQLEngine
import Storage
import StoreModel
import Synchronization

/// The result of inspecting a store's file, for `petrel doctor`. The inspection changes nothing,
/// and a server may be using the store.
public struct StoreExamination: Sendable, Hashable {
  /// How thoroughly the file is read.
  public enum Depth: Sendable, Hashable {
    /// All pages, their checksums, the contents of rows (SQLite's `quick_check`), and the sizes of
    /// asset files.
    case quick
    /// In addition, whether indexes agree with their tables (`integrity_check`), and the contents
    /// of all asset files.
    case full
  }

  /// The schema version to which this program migrates stores.
  public static var newestVersion: Int64 { Schema.newestVersion }
  /// The oldest schema version that this program migrates.
  public static var oldestVersion: Int64 { Schema.oldestVersion }

  /// The store's schema version; nil for a file that is not a store yet or cannot be read.
  public var schemaVersion: Int64?
  /// The damage found, at most ten lines.
  public var faults: [String] = []
  /// Whether everything was checked within the time limit.
  public var isComplete = true
  /// Whether a server has the store open.
  public var isServed = false
  /// The bytes of the file.
  public var bytes = 0
  /// The bytes of its write-ahead log; 0 if there is none.
  public var logBytes = 0

  /// The result for a file without damage, before it is read.
  public init() {}

  /// Inspects a store.
  ///
  /// - Parameters:
  ///   - path: the store's file.
  ///   - limit: how long to check the contents; the result has what was found by then.
  /// - Throws: ``StoreError/Code/notFound`` if there is no such file, and
  ///   ``StoreError/Code/cannotOpen`` if it cannot be read.
  public static func look(
    atStoreAt path: String, depth: Depth, within limit: Duration
  ) async throws -> StoreExamination {
    try await withCheckedThrowingContinuation { continuation in
      let thread = Thread {
        continuation.resume(
          with: Result {
            var found = try examine(path, depth, limit, isAlone: SQLStore.isUnused(at: path))
            // The store was taken as unused, but a server may have started and written to it
            // meanwhile.
            if !found.faults.isEmpty, !SQLStore.isUnused(at: path) {
              found = try examine(path, depth, limit, isAlone: false)
            }
            return found
          })
      }
      thread.start()
    }
  }

  /// Inspects a store.
  ///
  /// - Parameter isAlone: whether no program has the store open, so that its log need not be read.
  private static func examine(
    _ path: String, _ depth: Depth, _ limit: Duration, isAlone: Bool
  ) throws -> StoreExamination {
    var found = StoreExamination()
    guard let bytes = size(path) else {
      throw StoreError(.notFound, "there is no store at '\(path)'")
    }
    found.bytes = bytes
    found.logBytes = size(path + "-wal") ?? 0
    found.isServed = SQLStore.isServed(at: path)
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
      let connection = try SQLiteConnection(readingFileAt: path, isAlone: isAlone)
      defer { connection.close() }
      found.schemaVersion = StoreBackup.schemaVersion(of: connection)
      let timer = Interruption(of: connection, after: limit)
      defer { timer.end() }
      let check = depth == .full ? "PRAGMA integrity_check(10)" : "PRAGMA quick_check(10)"
      do {
        let rows = try connection.rows(check, []) { $0.text(0) }
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
        // An interrupted check reports pages that it did not reach as unused.
        found.faults.removeAll { $0.hasSuffix("is never used") }
      }
    } catch let error as StoreError where error.code == .corrupt {
      found.faults = [error.reason]
    }
    return found
  }

  /// Returns the damage of an asset's file; nil also if the asset was deleted meanwhile.
  private static func assetFault(
    _ path: String, _ asset: (database: Int64, name: String, checksum: String, size: Int64),
    _ depth: Depth,
    _ connection: SQLiteConnection
  ) throws -> String? {
    let found: String
    switch size(path) {
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
    let isThere = try connection.first(
      "SELECT 1 FROM assets WHERE database_id = $1 AND checksum = $2",
      [.integer(asset.database), .text(asset.checksum)]
    ) { _ in true }
    return isThere == nil ? nil : "the file of an asset, '\(path)', \(found)"
  }

  /// Returns the damage of the file header (https://sqlite.org/fileformat.html, section 1.3); nil
  /// if there is none.
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

  /// Returns the size of a file; nil if there is none.
  private static func size(_ path: String) -> Int? {
    var information = stat()
    return stat(path, &information) == 0 ? Int(information.st_size) : nil
  }
}

/// The timer that interrupts a connection's statement after a time. A lock protects the connection,
/// so the statement is not interrupted after ``end()``.
private final class Interruption: Sendable {
  /// The values that the lock protects.
  private struct State: @unchecked Sendable {
    // Guarded by the lock, and nil after the end.
    var connection: SQLiteConnection?
    var hasStruck = false
  }

  private let state: Mutex<State>

  /// Starts the timer.
  init(of connection: SQLiteConnection, after limit: Duration) {
    state = Mutex(State(connection: connection))
    DispatchQueue.global().asyncAfter(deadline: .now() + limit / .seconds(1)) { [weak self] in
      self?.strike()
    }
  }

  /// Whether the time was over, so that a statement was interrupted.
  var hasStruck: Bool { state.withLock(\.hasStruck) }

  /// Ends the timer. Call it before the connection is closed.
  func end() { state.withLock { $0.connection = nil } }

  /// Interrupts the connection, unless the timer has ended.
  private func strike() {
    state.withLock { state in
      guard let connection = state.connection else { return }
      state.hasStruck = true
      connection.interruption()()
    }
  }
}
