import CSQLite
import Foundation
import StoreModel

/// A check of the checksums of a store's file and log on the disk, before the store is used. If the
/// time limit ends the check, the remaining pages can be checked later, while the store is in use
/// (``checkRest(pausing:unless:)``).
package struct StoreInspection {
  /// The damage found, one text for each fault, at most ten.
  package private(set) var faults: [String] = []
  /// Whether pages have seals. Without seals, only the log is checked.
  package private(set) var isSealed = false
  package var isComplete: Bool { next > pages }

  private let path: String
  /// The database's pages; 0 if no pages are checked.
  private var pages = 0
  private var logged: Set<UInt32> = []
  private var next = 1

  private static let faultLimit = 10
  /// A page may be written while it is read: only a page that fails every attempt is damaged.
  private static let attempts = 20
  /// The microseconds between two attempts.
  private static let pause: UInt32 = 100_000

  /// Checks a store that no server has open. Other programs may write to it for a moment.
  ///
  /// - Parameter limit: the time limit for the pages. The log is always checked whole.
  /// - Throws: ``StoreError/Code/cannotOpen`` if the file cannot be read.
  package init(ofStoreAt path: String, within limit: Duration) throws {
    var found: StoreInspection
    var times: [Int]
    repeat {
      times = Self.times(of: path)
      found = try StoreInspection(at: path, within: limit)
      // A file that changed during the check is checked again.
    } while !found.faults.isEmpty && Self.times(of: path) != times
    self = found
  }

  private static func times(of path: String) -> [Int] {
    [path, path + "-wal"].flatMap { file in
      var information = stat()
      guard stat(file, &information) == 0 else { return [Int]() }
      let time = information.st_mtim
      return [Int(information.st_size), Int(information.st_ino), time.tv_sec, time.tv_nsec]
    }
  }

  private init(at path: String, within limit: Duration) throws {
    self.path = path
    guard let file = SystemFile(path) else {
      throw StoreError(.cannotOpen, "the store at '\(path)' cannot be read")
    }
    guard file.size > 0 else { return }
    var header = [UInt8](repeating: 0, count: 100)
    try header.withUnsafeMutableBytes { buffer in
      if let start = buffer.baseAddress { try file.read(start, count: 100, at: 0) }
    }
    isSealed = DatabaseFile.isSealed(fileAt: path)
    guard header.starts(with: Array("SQLite format 3\0".utf8)) || isSealed else { return }
    let log = try LogScan(besideStoreAt: path, isSealed: isSealed)
    if let fault = log.fault { faults.append(fault) }
    guard isSealed else { return }
    logged = log.pages
    let counted = header[28..<32].reduce(0) { $0 << 8 | Int($1) }
    pages = max(
      log.databasePages.map(Int.init) ?? counted,
      // The number of pages in the header may itself be damaged.
      log.databasePages == nil ? file.size / PageCache.pageSize : 0)
    // When SQLite opens the file, it first rolls back the changes of the journal. So no page is
    // checked before that.
    if let journal = SystemFile(path + "-journal", flags: SQLITE_OPEN_MAIN_JOURNAL),
      journal.size > 0
    {
      return
    }
    try look(at: file, until: .now + limit)
  }

  /// - Throws: ``StoreError/Code/corrupt`` with the first fault.
  package func check() throws {
    guard let fault = faults.first else { return }
    throw StoreError(.corrupt, "\(fault): \(PageDamage.advice)")
  }

  private mutating func look(at file: SystemFile, until end: ContinuousClock.Instant) throws {
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: SystemFile.greatestRead, alignment: PageCache.pageSize)
    defer { buffer.deallocate() }
    while !isComplete, faults.count < Self.faultLimit, ContinuousClock.now < end {
      for page in try damagedPages(among: step(), of: file, buffer) {
        guard faults.count < Self.faultLimit else { break }
        let isThere = Int(page) * PageCache.pageSize <= file.size
        faults.append(
          "\(PageDamage(path: path, page: page, isInLog: false, kind: isThere ? .changed : .missing))"
        )
      }
    }
  }

  /// Returns at most 31 pages, and sets ``next`` to the page after them.
  private mutating func step() -> Range<Int> {
    let first = next
    next = min(pages + 1, first + SystemFile.greatestRead / PageCache.pageSize)
    return first..<next
  }

  /// Skips pages that are also in the log, since a checkpoint may be about to replace them.
  private func damagedPages(
    among range: Range<Int>, of file: SystemFile, _ buffer: UnsafeMutableRawBufferPointer
  ) throws -> [UInt32] {
    guard let start = buffer.baseAddress, !range.isEmpty else { return [] }
    let size = PageCache.pageSize
    let end = file.size
    try file.read(start, count: range.count * size, at: (range.lowerBound - 1) * size)
    return range.map { UInt32($0) }.filter { page in
      page != PageCache.lockingPage && !logged.contains(page)
        && (Int(page) * size > end
          || !PageSeal.isIntact(
            start + (Int(page) - range.lowerBound) * size, number: page))
    }
  }

  /// Checks the remaining pages slowly, while the store is in use, and returns the first damaged one.
  /// `pause` is in microseconds, between two reads of 31 pages. `isOver` is called between them.
  package mutating func checkRest(
    pausing pause: UInt32, unless isOver: () -> Bool
  ) throws -> PageDamage? {
    guard !isComplete, let file = SystemFile(path) else { return nil }
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: SystemFile.greatestRead, alignment: PageCache.pageSize)
    defer { buffer.deallocate() }
    while !isComplete, !isOver() {
      let range = step()
      for page in try damagedPages(among: range, of: file, buffer) {
        let isDamaged = try (0..<Self.attempts).allSatisfy { _ in
          // On a thread of its own, which may block.
          usleep(Self.pause)
          return try !damagedPages(among: Int(page)..<Int(page) + 1, of: file, buffer).isEmpty
        }
        if isDamaged {
          return PageDamage(path: path, page: page, isInLog: false, kind: .changed)
        }
      }
      var rest = pause
      while rest > 0, !isOver() {
        // On a thread of its own, which may block.
        usleep(min(rest, Self.pause))
        rest -= min(rest, Self.pause)
      }
    }
    return nil
  }
}

/// The damage of one page of a store: the page is missing, or its bytes differ from those that were
/// written.
public struct PageDamage: Sendable, Hashable, CustomStringConvertible {
  /// The kind of the damage.
  public enum Kind: Sendable, Hashable {
    case changed
    case missing
  }

  /// The path of the store's file, also for a page of its log.
  public var path: String
  /// The page's number, counted from 1.
  public var page: UInt32
  /// Whether the damaged page is in the write-ahead log.
  public var isInLog: Bool
  /// The kind of the damage.
  public var kind: Kind

  public var description: String {
    let file = "'\(path)\(isInLog ? "-wal" : "")'"
    return switch kind {
    case .changed: "page \(page) in \(file) does not match its checksum"
    case .missing: "\(file) ends before page \(page)"
    }
  }

  package static let advice =
    "Petrel does not serve a damaged store; stop the server, keep all of the store's files, and "
    + "restore a backup to another place with 'petrel restore'. 'petrel doctor --deep' lists the "
    + "damage"
}
