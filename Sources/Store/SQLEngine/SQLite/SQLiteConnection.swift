import CSQLite
import Foundation
import Glibc
import StoreModel

/// A connection to an SQLite database: a file with a write-ahead log, or a database in memory.
///
/// The connection opens files through ``GatheringFileSystem``, which checks the pages. SQLite runs
/// without a mutex (`SQLITE_OPEN_NOMUTEX`), so one thread at a time may use the connection. Only
/// the closure of ``interruption()`` may be called from any thread.
package final class SQLiteConnection: SQLConnection {
  /// The settings of a connection.
  package struct Settings {
    package var cacheKilobytes: Int
    /// Milliseconds to wait for another writing process. Statements then fail with
    /// ``StoreError/Code/overloaded``.
    package var busyTimeout: Int
    /// The bytes to which the log's file is cut when the log begins anew. More than the log
    /// usually has then, because a file that grows again slows commits.
    package var keptLogBytes: Int

    package init(
      cacheKilobytes: Int = 256 * 1024, busyTimeout: Int = 10_000, keptLogBytes: Int = 128 << 20
    ) {
      self.cacheKilobytes = cacheKilobytes
      self.busyTimeout = busyTimeout
      self.keptLogBytes = keptLogBytes
    }
  }

  package var kind: SQLEngineKind { .sqlite }
  /// `memory` if there is no file.
  package var name: String {
    sqlite3_db_filename(handle, "main").map { String(cString: $0) } ?? "memory"
  }
  let handle: OpaquePointer
  let busyTimeout: Int32
  private(set) var statements: [String: SQLiteStatement] = [:]
  /// Some of ``statements``, indexed by the address of their text.
  private var recent = [(text: String, statement: SQLiteStatement)?](repeating: nil, count: 256)

  /// nil opens a database in memory. Each commit is synced before ``commit()`` returns
  /// (`synchronous=FULL`).
  ///
  /// - Parameter checkpointPages: the pages in the log at which a commit of this connection also
  ///   copies it; nil if another connection copies the log.
  /// - Throws: ``StoreError/Code/cannotOpen`` if the file cannot be used as a store,
  ///   ``StoreError/Code/corrupt`` if the file has seals and is damaged.
  package init(
    path: String?, settings: Settings = Settings(), checkpointPages: Int? = nil
  ) throws {
    if let path { Self.makePrivateFile(path) }
    handle = try Self.open(
      path ?? ":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
      failure: "the store at '\(path ?? "memory")' cannot be opened")
    busyTimeout = Int32(clamping: settings.busyTimeout)
    sqlite3_busy_timeout(handle, busyTimeout)
    do {
      try execute("PRAGMA page_size = \(PageCache.pageSize)")
      if path != nil { reserveRoomForSeals() }
      try execute("PRAGMA max_page_count = \(BTreePage.greatestNumber)")
      try execute("PRAGMA secure_delete = ON")
      try execute("PRAGMA journal_mode = WAL")
      try execute("PRAGMA synchronous = FULL")
      try execute("PRAGMA cache_size = -\(settings.cacheKilobytes)")
      try execute("PRAGMA journal_size_limit = \(settings.keptLogBytes)")
      try execute("PRAGMA wal_autocheckpoint = \(checkpointPages ?? 0)")
      try execute("PRAGMA temp_store = MEMORY")
      if checkpointPages == nil { countLoggedPages() }
      try checkPageSize()
      if path != nil { try checkPlace() }
    } catch let error as StoreError {
      let advice = Self.advice(after: sqlite3_errcode(handle))
      let isDamaged = error.code == .corrupt && isSealed
      close()
      if isDamaged { throw error }
      throw StoreError(
        .cannotOpen,
        "'\(path ?? "memory")' cannot be used as a store: \(error.reason). \(advice)",
        statement: error.statement)
    }
  }

  private static func open(
    _ name: String, _ flags: Int32, failure: String
  ) throws -> OpaquePointer {
    _ = isConfigured
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(
      name, &opened, flags | SQLITE_OPEN_NOMUTEX, GatheringFileSystem.name)
    guard code == SQLITE_OK, let opened else {
      let message = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
      sqlite3_close_v2(opened)
      throw StoreError(.cannotOpen, "\(failure): \(message)")
    }
    sqlite3_extended_result_codes(opened, 1)
    return opened
  }

  /// Lets only the file's user read it, where SQLite would let all users. The log gets the same
  /// permissions. An existing file is unchanged. SQLite reports any error when it opens the file.
  static func makePrivateFile(_ path: String) {
    let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor >= 0 { Glibc.close(descriptor) }
  }

  /// Opens a file for inspection. The connection changes neither the file nor its log, and refuses
  /// statements that would.
  ///
  /// - Parameter isAlone: whether no other connection uses the file and it has no log. If false,
  ///   the log is read too, which needs the log's index beside the file.
  /// - Throws: ``StoreError/Code/cannotOpen`` if the file cannot be read.
  package init(readingFileAt path: String, isAlone: Bool) throws {
    let name = URL(fileURLWithPath: path).absoluteString + (isAlone ? "?immutable=1" : "?mode=ro")
    handle = try Self.open(
      name, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI,
      failure: "the store at '\(path)' cannot be read")
    busyTimeout = 1_000
    sqlite3_busy_timeout(handle, busyTimeout)
    sqlite3_keep_log_on_close(handle)
  }

  /// Has no effect on an existing file.
  func reserveRoomForSeals() {
    var reserved = Int32(PageSeal.bytes)
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved)
  }

  /// Whether pages have seals; false for a database in memory.
  package var isSealed: Bool { file?.isSealed ?? false }

  /// The open file; nil for a database in memory.
  var file: DatabaseFile? {
    var pointer: UnsafeMutablePointer<sqlite3_file>?
    guard sqlite3_db_filename(handle, "main").map({ $0.pointee != 0 }) ?? false,
      GatheringFileSystem.name != nil,
      sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &pointer) == SQLITE_OK
    else { return nil }
    return pointer.map { DatabaseFile($0) }
  }

  /// Shared by all connections to the file; nil if this connection only throws errors about
  /// damage.
  package var damage: StoreDamage?

  /// Another file may have replaced the file between its opening and the first read.
  private func checkPlace() throws {
    var hasMoved: Int32 = 0
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
    guard hasMoved == 0 else {
      throw StoreError(.cannotOpen, "the file was replaced while it was being opened; try again")
    }
  }

  /// A file that cannot be read at the moment need not be damaged.
  private static func advice(after result: Int32) -> String {
    switch result & 0xFF {
    case SQLITE_IOERR: "Check the disk (dmesg), and start again"
    case SQLITE_FULL: "Free space on its disk, and start again"
    case SQLITE_BUSY, SQLITE_LOCKED: "End the other program that has it open, and start again"
    default: "Name another file, or restore this one from a backup"
    }
  }

  /// Set before the first statement that names one of its tables.
  package var gate: StatementGate?

  package var read: ReadCancellation?

  package func interruption() -> @Sendable () -> Void {
    // SQLite permits this one call from any thread.
    nonisolated(unsafe) let handle = handle
    return { sqlite3_interrupt(handle) }
  }

  /// An interruption takes effect at once or never.
  package func noteInterruption() {}

  /// ``PageCache`` requires the size of new files.
  private func checkPageSize() throws {
    let size = try first("PRAGMA page_size", []) { $0.integer(0) } ?? 0
    guard size == PageCache.pageSize else {
      throw StoreError(
        .cannotOpen,
        "its pages have \(size) bytes, and Petrel needs pages of \(PageCache.pageSize) bytes "
          + "(VACUUM can change the size)")
    }
  }

  deinit { close() }

  /// The first read of the value must come before the first use of SQLite. Without memory
  /// statistics, SQLite needs no lock for each allocation.
  static let isConfigured =
    sqlite3_config_without_memory_statistics() == SQLITE_OK && PageCache.isInstalled

  /// SQLite rolls back by itself after some errors, such as a full disk.
  package var isInTransaction: Bool { !isClosed && sqlite3_get_autocommit(handle) == 0 }

  private var isClosed = false

  /// Takes SQLite's write lock, so that a later statement cannot fail to get it.
  package func beginWriting() throws {
    try damage?.check()
    try run("BEGIN IMMEDIATE", [])
  }

  /// The snapshot is that of the first statement.
  package func beginReading() throws {
    try damage?.check()
    try run("BEGIN", [])
  }

  /// - Throws: ``StoreError/Code/corrupt`` or ``StoreError/Code/diskFailed`` if damage was found
  ///   since the transaction began; nothing is committed then.
  package func commit() throws {
    try damage?.check()
    try run("COMMIT", [])
  }

  /// A table marked `/*clustered*/` has its rows in the B-tree of the primary key.
  package func definition(_ statement: String) -> String {
    statement.replacing("/*clustered*/", with: "WITHOUT ROWID")
  }

  package func execute(_ script: String) throws {
    guard sqlite3_exec(handle, script, nil, nil, nil) == SQLITE_OK else { throw failure(script) }
  }

  @discardableResult
  package func run(_ statement: Statement, _ arguments: [SQLValue]) throws -> Int {
    let prepared = try prepare(statement.text, arguments)
    defer { prepared.reset() }
    return try finish(prepared, statement.text)
  }

  package func runLater(_ statement: RowStatement, rows: borrowing SQLArguments) throws {
    var next = 0
    for (text, count) in [(statement.several, RowStatement.rowsTogether), (statement.one, 1)] {
      let size = statement.kinds.count * count
      guard let text = text?.text, rows.count - next >= size else { continue }
      let prepared = try self.statement(for: text)
      try gate?.pass(text, &prepared.effects)
      // Bound arguments point into this memory. They are not read after the reset: the next run binds
      // every argument anew.
      try rows.memory.withUnsafeBytes { memory in
        defer { prepared.reset() }
        while rows.count - next >= size {
          guard prepared.bind(rows, from: next, in: memory) else { throw failure(text) }
          _ = try finish(prepared, text)
          prepared.reset()
          next += size
        }
      }
    }
  }

  private func finish(_ prepared: SQLiteStatement, _ text: String) throws -> Int {
    while true {
      switch sqlite3_step(prepared.pointer) {
      case SQLITE_ROW: continue
      case SQLITE_DONE: return Int(sqlite3_changes(handle))
      default: throw failure(text)
      }
    }
  }

  package func query(
    _ statement: Statement, _ arguments: [SQLValue], _ visit: (any SQLRow) throws -> Void
  ) throws {
    try read?.check()
    let prepared = try prepare(statement.text, arguments)
    defer { prepared.reset() }
    // Once for all rows, since the conversion retains a reference.
    let row: any SQLRow = prepared
    while true {
      switch sqlite3_step(prepared.pointer) {
      case SQLITE_ROW:
        try read?.check()
        try visit(row)
      case SQLITE_DONE: return
      default: throw failure(statement.text)
      }
    }
  }

  package internal(set) var loggedPages = 0

  /// The last connection to a file copies and deletes the log, unless damage was found or the file
  /// is marked (``markLog()``).
  package func close() {
    guard !isClosed else { return }
    // A mark that cannot be read counts as set: the log stays.
    let keepsLog = damage?.reason != nil || (try? isLogMarked) ?? true
    isClosed = true
    for statement in statements.values { sqlite3_finalize(statement.pointer) }
    statements = [:]
    recent = []
    // A damaged store keeps its log: the close would otherwise copy the log into the database.
    if keepsLog { sqlite3_keep_log_on_close(handle) }
    sqlite3_close_v2(handle)
  }

  private func prepare(_ text: String, _ arguments: [SQLValue]) throws -> SQLiteStatement {
    let statement = try statement(for: text)
    // Other statements may run here, so the arguments are bound afterwards.
    try gate?.pass(text, &statement.effects)
    guard statement.bind(arguments) else {
      let error = failure(text)
      statement.reset()
      throw error
    }
    return statement
  }

  /// Texts are constants, so equal texts mostly have the same address. Hashing a text costs more
  /// than binding its arguments.
  private func statement(for text: String) throws -> SQLiteStatement {
    let place = text.utf8.withContiguousStorageIfAvailable { Int(bitPattern: $0.baseAddress) }
    let slot = ((place ?? 0) >> 4) % recent.count
    if let known = recent[slot], known.text == text { return known.statement }
    let statement = try statements[text] ?? newStatement(text)
    statements[text] = statement
    recent[slot] = (text, statement)
    return statement
  }

  private func newStatement(_ text: String) throws -> SQLiteStatement {
    var pointer: OpaquePointer?
    let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
    guard sqlite3_prepare_v3(handle, text, -1, flags, &pointer, nil) == SQLITE_OK, let pointer
    else { throw failure(text) }
    return SQLiteStatement(pointer)
  }

  func failure(_ statement: String) -> StoreError {
    let result = sqlite3_extended_errcode(handle)
    let message = String(cString: sqlite3_errmsg(handle))
    switch result & 0xFF {
    case SQLITE_BUSY, SQLITE_LOCKED:
      return StoreError(
        .overloaded, "another process is writing to the store (\(message)); try again later",
        statement: statement)
    case SQLITE_FULL:
      return StoreError(
        .full, "the store's disk is full, or its file has the greatest size, 128 GiB: \(message)",
        statement: statement)
    case SQLITE_CORRUPT, SQLITE_NOTADB:
      let error = StoreError(
        .corrupt, "the store's file is damaged: \(message)", statement: statement)
      damage?.note(error.reason)
      return error
    case SQLITE_IOERR where result == SQLiteResult.wrongData:
      let found = file?.damage?.description ?? message
      let error = StoreError(.corrupt, "\(found): \(PageDamage.advice)", statement: statement)
      damage?.note(error.reason)
      return error
    default:
      let error = StoreError(
        result & 0xFF == SQLITE_IOERR ? .diskFailed : .statementFailed,
        "\(message) (SQLite result \(result))", statement: statement)
      if let file, file.hasFailedSync { damage?.note(unsynced: file.unsyncedReason) }
      return error
    }
  }
}
