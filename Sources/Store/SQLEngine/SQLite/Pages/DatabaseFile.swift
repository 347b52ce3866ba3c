import CSQLite
import Foundation

/// An open database file of SQLite's own file system, with a ``PageSeal`` (a checksum) at the end
/// of each page. The seal is written with the page and checked when the page is read. A damaged
/// page is neither returned by a read nor copied from the write-ahead log into the database. Unused
/// bytes of a page are cleared before the page is written (``BTreePage``).
///
/// Pages are never memory-mapped, because a reader of mapped memory does not learn of disk errors
/// or changed data. Each page is read and checked before SQLite gets it.
///
/// Either all pages of a file have seals or none has, and this never changes. The value is only a
/// pointer: SQLite owns the memory of the file, and only the thread of the file's connection uses
/// it.
package struct DatabaseFile {
  /// The data that this type keeps for an open file.
  private struct State {
    let system: UnsafePointer<sqlite3_io_methods>
    let methods: UnsafeMutablePointer<sqlite3_io_methods>
    let path: String
    let isSealed: Bool
    let scratch: UnsafeMutableRawPointer
    /// Whether SQLite writes pages from the write-ahead log, which already have seals.
    var isCopyingLog = false
    var damage: PageDamage?
    var hasFailedSync = false
  }

  private let file: UnsafeMutablePointer<sqlite3_file>

  /// Points to an open file whose methods ``wrap(_:path:)`` has replaced.
  package init(_ file: UnsafeMutablePointer<sqlite3_file>) {
    self.file = file
  }

  static func wrap(_ file: UnsafeMutablePointer<sqlite3_file>, path: String) {
    guard let system = file.pointee.pMethods else { return }
    let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    methods.initialize(to: system.pointee)
    // SQLite calls these methods with the file that it asked to open, so the pointer is not null.
    methods.pointee.xClose = { DatabaseFile($0!).close() }
    methods.pointee.xRead = { DatabaseFile($0!).read($1!, $2, at: $3) }
    methods.pointee.xWrite = { DatabaseFile($0!).write($1!, $2, at: $3) }
    methods.pointee.xSync = { DatabaseFile($0!).sync($1) }
    methods.pointee.xFileControl = { DatabaseFile($0!).control($1, $2) }
    methods.pointee.xFetch = { _, _, _, page in
      page?.pointee = nil
      return SQLITE_OK
    }
    let scratch = UnsafeMutableRawPointer.allocate(
      byteCount: PageCache.pageSize, alignment: PageCache.pageSize)
    let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
    state.initialize(
      to: State(
        system: system, methods: methods, path: path,
        isSealed: isSealed(file, system, using: scratch), scratch: scratch))
    DatabaseFile(file).place.storeBytes(of: state, as: UnsafeMutablePointer<State>.self)
    file.pointee.pMethods = UnsafePointer(methods)
  }

  private var place: UnsafeMutableRawPointer {
    UnsafeMutableRawPointer(file) + GatheringFileSystem.systemFileBytes
  }

  private var state: UnsafeMutablePointer<State> {
    place.load(as: UnsafeMutablePointer<State>.self)
  }

  private func close() -> Int32 {
    let state = state
    defer {
      state.pointee.methods.deallocate()
      state.pointee.scratch.deallocate()
      state.deinitialize(count: 1)
      state.deallocate()
    }
    return state.pointee.system.pointee.xClose(file)
  }

  // MARK: Seals

  package var isSealed: Bool { state.pointee.isSealed }

  package var damage: PageDamage? { state.pointee.damage }

  package func refuse(_ page: UInt32, isInLog: Bool, _ kind: PageDamage.Kind = .changed) -> Int32 {
    state.pointee.damage = PageDamage(
      path: state.pointee.path, page: page, isInLog: isInLog, kind: kind)
    return SQLiteResult.wrongData
  }

  /// The most pages at the beginning of a file that are searched for an intact seal.
  private static let witnesses = 16

  package static func isSealed(fileAt path: String) -> Bool {
    guard let file = SystemFile(path), file.size > 0 else { return false }
    let page = UnsafeMutableRawPointer.allocate(byteCount: PageCache.pageSize, alignment: 16)
    defer { page.deallocate() }
    return isSealed(using: page) { number in
      let offset = (number - 1) * PageCache.pageSize
      guard offset < file.size else { return false }
      // An unreadable page counts as not sealed.
      return (try? file.read(page, count: PageCache.pageSize, at: offset)) != nil
    }
  }

  /// An empty file counts as sealed, because new pages get seals.
  private static func isSealed(
    _ file: UnsafeMutablePointer<sqlite3_file>, _ system: UnsafePointer<sqlite3_io_methods>,
    using page: UnsafeMutableRawPointer
  ) -> Bool {
    var size: Int64 = 0
    guard system.pointee.xFileSize(file, &size) == SQLITE_OK, size > 0 else { return true }
    return isSealed(using: page) { number in
      let offset = Int64(number - 1) * Int64(PageCache.pageSize)
      let result = system.pointee.xRead(file, page, Int32(PageCache.pageSize), offset)
      return result == SQLITE_OK || (offset < size && result == SQLiteResult.shortRead)
    }
  }

  /// A byte in the file's header says whether pages have seals. The byte may be damaged, so one
  /// intact seal among the first ``witnesses`` pages is also enough.
  ///
  /// - Parameter read: reads the page with this number into `page`; false if it cannot.
  private static func isSealed(
    using page: UnsafeMutableRawPointer, _ read: (Int) -> Bool
  ) -> Bool {
    for number in 1...witnesses {
      guard read(number) else { break }
      if number == 1 {
        let reserved = (page + reservedBytesOffset).assumingMemoryBound(to: UInt8.self)
        if reserved.pointee == PageSeal.bytes { return true }
        reserved.pointee = UInt8(PageSeal.bytes)
      }
      if PageSeal.isIntact(page, number: UInt32(number)) { return true }
    }
    return false
  }

  /// The header's byte for the number of bytes reserved at the end of each page.
  static let reservedBytesOffset = 20

  // MARK: Reading and writing

  /// Checks the seal. Reads of fewer than 512 bytes, such as of the file header, are not checked.
  private func read(
    _ bytes: UnsafeMutableRawPointer, _ count: Int32, at offset: Int64
  ) -> Int32 {
    let state = state
    let system = state.pointee.system
    let pageSize = Int32(PageCache.pageSize)
    guard state.pointee.isSealed, count >= 512 else {
      return SQLiteResult.ofRead(system.pointee.xRead(file, bytes, count, offset))
    }
    let result = SQLiteResult.ofRead(system.pointee.xRead(file, bytes, count, offset))
    let page = UInt32(truncatingIfNeeded: offset / Int64(pageSize) + 1)
    if result == SQLiteResult.shortRead { return refuse(page, isInLog: false, .missing) }
    guard result == SQLITE_OK else { return result }
    guard count == pageSize, offset % Int64(pageSize) == 0,
      PageSeal.isIntact(bytes, number: page)
    else { return refuse(page, isInLog: false) }
    return result
  }

  /// A page from the log must have an intact seal: otherwise it is not written.
  private func write(_ bytes: UnsafeRawPointer, _ count: Int32, at offset: Int64) -> Int32 {
    let state = state
    let system = state.pointee.system
    let pageSize = Int64(PageCache.pageSize)
    guard state.pointee.isSealed else {
      return system.pointee.xWrite(file, bytes, count, offset)
    }
    let page = UInt32(truncatingIfNeeded: offset / pageSize + 1)
    guard count == PageCache.pageSize, offset % pageSize == 0 else {
      return refuse(page, isInLog: false)
    }
    let isSealed = state.pointee.isCopyingLog
    if isSealed, !PageSeal.isIntact(bytes, number: page) { return refuse(page, isInLog: true) }
    let remains = BTreePage.remains(on: bytes, number: page)
    if isSealed, remains == nil { return system.pointee.xWrite(file, bytes, count, offset) }
    let sealed = state.pointee.scratch
    sealed.copyMemory(from: bytes, byteCount: Int(count))
    if let remains { memset(sealed + remains.lowerBound, 0, remains.count) }
    // Without reserved bytes, the seal would overwrite contents.
    guard
      page > 1
        || sealed.load(fromByteOffset: Self.reservedBytesOffset, as: UInt8.self) == PageSeal.bytes
    else { return SQLITE_IOERR }
    PageSeal.put(on: sealed, number: page)
    return system.pointee.xWrite(file, sealed, count, offset)
  }

  /// Linux may have marked the unwritten pages clean after a failed sync. A later sync then neither
  /// writes them nor reports an error.
  var hasFailedSync: Bool { state.pointee.hasFailedSync }

  var unsyncedReason: String {
    "the disk failed to sync '\(state.pointee.path)' (see dmesg); the next start copies the "
      + "contents of its log again"
  }

  private func sync(_ flags: Int32) -> Int32 {
    let result = state.pointee.system.pointee.xSync(file, flags)
    if result != SQLITE_OK { state.pointee.hasFailedSync = true }
    return result
  }

  private func control(_ operation: Int32, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    if operation == SQLITE_FCNTL_CKPT_START { state.pointee.isCopyingLog = true }
    if operation == SQLITE_FCNTL_CKPT_DONE { state.pointee.isCopyingLog = false }
    return state.pointee.system.pointee.xFileControl(file, operation, argument)
  }
}
