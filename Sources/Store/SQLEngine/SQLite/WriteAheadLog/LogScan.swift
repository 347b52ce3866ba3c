import CPageChecksum
import CSQLite
import Foundation
import StoreModel

/// A scan of a write-ahead log that no connection writes to. It reads the log's contents and checks
/// them for damage (https://sqlite.org/fileformat2.html#the_write_ahead_log).
///
/// SQLite ends a log before the first frame that does not match its checksum, such as a frame that
/// was being written when the power failed. Commits after a damaged frame would be lost silently.
/// So the scan also reads the frames after the first mismatch. Each commit waits until the commit
/// before it is on the disk. So two consecutive commits after the mismatch prove that all frames up
/// to the first of these commits were once complete. If a process has left the log's index
/// (`-shm`), the index says how many frames were committed.
package struct LogScan {
  /// The pages in committed frames.
  package private(set) var pages: Set<UInt32> = []
  /// The database's pages after the last commit; nil if the log has no complete commit.
  package private(set) var databasePages: UInt32?
  /// The damage, for a person; nil if there is none.
  package private(set) var fault: String?

  /// A frame of the log: a header of 24 bytes and a page.
  private struct Frame {
    var page: UInt32
    /// The database's pages after the commit; 0 for a frame that does not end a commit.
    var databasePages: UInt32
    /// The two salts of 32 bits. All frames since the log's last restart share them.
    var salts: UInt64
    /// The header's checksums, over this frame and all frames before it.
    var sums: Sums
    var counted: Sums
    var isSealIntact: Bool
  }

  /// The two running sums of SQLite's checksum.
  private struct Sums: Equatable {
    var first: UInt32 = 0
    var second: UInt32 = 0
  }

  private let path: String
  private let isSealed: Bool
  /// The log; nil if there is none, or if it cannot be opened.
  private let file: SystemFile?
  /// Whether checksums are sums of big-endian words, by the magic number in the header.
  private var beginsWithHighestByte = false
  private let memory = UnsafeMutableRawBufferPointer.allocate(
    byteCount: SealedLog.frameBytes, alignment: 16)

  /// A missing or empty log has no pages and no fault.
  ///
  /// - Parameter path: the path of the store's file, not the log's.
  /// - Throws: ``StoreError/Code/cannotOpen`` if the disk cannot read the log.
  package init(besideStoreAt path: String, isSealed: Bool) throws {
    self.path = path + "-wal"
    self.isSealed = isSealed
    file = access(self.path, R_OK) == 0 ? SystemFile(self.path, flags: SQLITE_OPEN_WAL) : nil
    defer { memory.deallocate() }
    guard let file, file.size >= SealedLog.headerBytes else { return }
    try scan(file)
  }

  private mutating func scan(_ file: SystemFile) throws {
    let frames = (file.size - SealedLog.headerBytes) / SealedLog.frameBytes
    guard let start = memory.baseAddress else { return }
    try file.read(start, count: SealedLog.headerBytes, at: 0)
    let magic = word(0)
    beginsWithHighestByte = magic & 1 == 1
    var sums = Sums()
    count(start, SealedLog.headerBytes - 8, into: &sums)
    let stored = Sums(first: word(24), second: word(28))
    let salts = UInt64(word(16)) << 32 | UInt64(word(20))
    guard magic & ~1 == 0x377F_0682, sums == stored else {
      // A header that was not written completely has no frames after it.
      if frames > 0 { fault = "the header of '\(path)' does not match its checksum" }
      return
    }
    guard word(8) == PageCache.pageSize else {
      fault = "'\(path)' has pages of \(word(8)) bytes instead of \(PageCache.pageSize)"
      return
    }
    var last = 0
    var before = stored
    var waiting: Set<UInt32> = []
    var number = 1
    while number <= frames {
      let frame = try frame(number, after: before, in: file)
      // A torn write may have left the end of an older page, which SQLite's checksum need not
      // detect.
      guard frame.salts == salts, frame.sums == frame.counted, frame.page > 0,
        !isSealed || frame.isSealIntact
      else { break }
      waiting.insert(frame.page)
      if frame.databasePages > 0 {
        last = number
        databasePages = frame.databasePages
        pages.formUnion(waiting)
        waiting = []
      }
      before = frame.sums
      number += 1
    }
    let committed = committedFrames(withSalts: salts)
    if last < committed {
      fault =
        number > frames
        ? "'\(path)' ends after frame \(frames), but \(committed) frames were committed"
        : "frame \(number) in '\(path)' does not match its checksum, but \(committed) frames were "
          + "committed"
      return
    }
    if number <= frames { try lookBehind(number, in: file, frames, salts) }
  }

  /// Sets ``fault`` if frames after the invalid frame `broken` (from 1) were committed. `salts`
  /// are those of the log's header.
  private mutating func lookBehind(
    _ broken: Int, in file: SystemFile, _ frames: Int, _ salts: UInt64
  ) throws {
    // The commits in a run of consecutive frames. If later transactions partly overwrote an aborted
    // transaction, its runs have at most one commit.
    var commits = 0
    var before = Sums()
    for number in broken...frames {
      let frame = try frame(number, after: before, in: file)
      before = frame.sums
      guard number > broken, frame.salts == salts, frame.sums == frame.counted else {
        commits = 0
        continue
      }
      if frame.databasePages > 0 { commits += 1 }
      if commits == 2 {
        fault =
          "frame \(broken) in '\(path)' does not match its checksum, but later ones were committed"
        return
      }
    }
  }

  private func frame(_ number: Int, after before: Sums, in file: SystemFile) throws -> Frame {
    guard let start = memory.baseAddress else { throw StoreError(.cannotOpen, "no memory") }
    try file.read(
      start, count: SealedLog.frameBytes,
      at: SealedLog.headerBytes + (number - 1) * SealedLog.frameBytes)
    var counted = before
    count(start, 8, into: &counted)
    let page = start + SealedLog.frameHeaderBytes
    count(page, PageCache.pageSize, into: &counted)
    return Frame(
      page: word(0), databasePages: word(4), salts: UInt64(word(8)) << 32 | UInt64(word(12)),
      sums: Sums(first: word(16), second: word(20)), counted: counted,
      isSealIntact: PageSeal.isIntact(page, number: word(0)))
  }

  private func word(_ offset: Int) -> UInt32 {
    UInt32(bigEndian: memory.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  private func count(_ bytes: UnsafeRawPointer, _ count: Int, into sums: inout Sums) {
    petrel_log_checksum(bytes, count, beginsWithHighestByte ? 1 : 0, &sums.first, &sums.second)
  }

  /// The committed frames when the log's index was last written
  /// (https://sqlite.org/walformat.html#the_wal_index_file_format); 0 if unknown.
  private func committedFrames(withSalts salts: UInt64) -> Int {
    let header = 48
    guard isIndexOfThisBoot, let handle = FileHandle(forReadingAtPath: indexPath),
      // An unreadable index is ignored; the log itself is still checked.
      let bytes = try? handle.read(upToCount: 2 * header), bytes.count == 2 * header,
      bytes.prefix(header) == bytes.suffix(header)
    else { return 0 }
    return bytes.withUnsafeBytes { bytes in
      func word(_ offset: Int) -> UInt32 {
        bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
      }
      var sums = Sums()
      if let start = bytes.baseAddress {
        petrel_log_checksum(start, header - 8, 0, &sums.first, &sums.second)
      }
      let found = UInt64(UInt32(bigEndian: word(32))) << 32 | UInt64(UInt32(bigEndian: word(36)))
      guard word(0) == 3_007_000, bytes[12] == 1, found == salts,
        sums == Sums(first: word(40), second: word(44))
      else { return 0 }
      return Int(word(16))
    }
  }

  /// Whether the index was made since the machine started. An older index may have reached the disk
  /// with commits whose frames did not.
  private var isIndexOfThisBoot: Bool {
    var information = stat()
    var up = timespec()
    var now = timespec()
    guard stat(indexPath, &information) == 0, clock_gettime(CLOCK_BOOTTIME, &up) == 0,
      clock_gettime(CLOCK_REALTIME, &now) == 0
    else { return false }
    return information.st_mtim.tv_sec >= now.tv_sec - up.tv_sec
  }

  private var indexPath: String { String(path.dropLast(4)) + "-shm" }
}
