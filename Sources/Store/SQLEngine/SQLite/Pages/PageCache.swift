import CSQLite

/// The page cache of SQLite with one page number replaced
/// (https://sqlite.org/c3ref/pcache_methods2.html).
///
/// When SQLite reorders the pages of a tree, it gives them for a moment the number of the locking
/// page, which is never used. The cache remembers the greatest number that it saw. At the next
/// commit it searches all its pages for numbers after the database's end: a millisecond for 256 MB,
/// at each commit of a database of less than a gigabyte. With the number 0, which no page has, it
/// does not search.
package enum PageCache {
  /// Pages must have this size, in bytes, for the number to be right.
  package static let pageSize = 4_096

  /// Whether SQLite uses the replaced cache. Must be evaluated before the first use of SQLite.
  static let isInstalled: Bool = {
    guard var methods = system, methods.xRekey != nil else { return false }
    methods.xRekey = { cache, page, old, new in
      PageCache.system?.xRekey(cache, page, PageCache.number(old), PageCache.number(new))
    }
    return sqlite3_config_write_page_cache(&methods) == SQLITE_OK
  }()

  /// SQLite's own page cache, which never changes after initialization.
  nonisolated(unsafe) private static let system: sqlite3_pcache_methods2? = {
    var methods = sqlite3_pcache_methods2()
    return sqlite3_config_read_page_cache(&methods) == SQLITE_OK ? methods : nil
  }()

  /// The number of the page that is never used: the one at the offset of one gibibyte.
  package static let lockingPage = UInt32(0x4000_0000 / pageSize + 1)

  /// Returns 0 for the locking page, and any other number unchanged.
  private static func number(_ page: UInt32) -> UInt32 { page == lockingPage ? 0 : page }
}
