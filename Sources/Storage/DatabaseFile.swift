import CSQLite
import Foundation

/// An open database as SQLite's own file system opened it, but for pages that are mapped: the system is
/// told before SQLite looks at one (``ReadingAhead``).
struct DatabaseFile {
  private struct State {
    let system: UnsafePointer<sqlite3_io_methods>
    let methods: UnsafeMutablePointer<sqlite3_io_methods>
    var ahead = ReadingAhead()
  }

  private let file: UnsafeMutablePointer<sqlite3_file>

  /// Puts methods before those of a file that the system has just opened.
  static func wrap(_ file: UnsafeMutablePointer<sqlite3_file>) {
    // Before version 3 nothing is mapped.
    guard let system = file.pointee.pMethods, system.pointee.iVersion >= 3,
      system.pointee.xFetch != nil
    else { return }
    let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    methods.initialize(to: system.pointee)
    // SQLite calls them with the file that it gave to be opened, and never without one.
    methods.pointee.xClose = { DatabaseFile(file: $0!).close() }
    methods.pointee.xFetch = { DatabaseFile(file: $0!).fetch($1, $2, $3!) }
    let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
    state.initialize(to: State(system: system, methods: methods))
    DatabaseFile(file: file).place.storeBytes(of: state, as: UnsafeMutablePointer<State>.self)
    file.pointee.pMethods = UnsafePointer(methods)
  }

  /// Behind the memory for the system's file, where there is room for a log's buffer too.
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
      state.deinitialize(count: 1)
      state.deallocate()
    }
    return state.pointee.system.pointee.xClose(file)
  }

  private func fetch(
    _ offset: Int64, _ count: Int32, _ page: UnsafeMutablePointer<UnsafeMutableRawPointer?>
  ) -> Int32 {
    let state = state
    let result = state.pointee.system.pointee.xFetch(file, offset, count, page)
    guard result == SQLITE_OK, let start = page.pointee,
      let stretch = state.pointee.ahead.stretch(from: Int(offset))
    else { return result }
    read(stretch, mappedAt: start - Int(offset), by: state.pointee.system)
    return result
  }

  /// Has the system begin to read a stretch, as far as the file goes and is mapped.
  private func read(
    _ stretch: Range<Int>, mappedAt start: UnsafeMutableRawPointer,
    by system: UnsafePointer<sqlite3_io_methods>
  ) {
    var size: Int64 = 0
    // Asks for the limit, as it is below 0.
    var limit: Int64 = -1
    guard system.pointee.xFileSize(file, &size) == SQLITE_OK,
      system.pointee.xFileControl(file, SQLITE_FCNTL_MMAP_SIZE, &limit) == SQLITE_OK
    else { return }
    let stretch = stretch.clamped(to: 0..<Int(max(0, min(size, limit))))
    guard !stretch.isEmpty else { return }
    // It is a hint: where it fails, the page comes as it would have without.
    _ = madvise(start + stretch.lowerBound, stretch.count, MADV_WILLNEED)
  }
}
