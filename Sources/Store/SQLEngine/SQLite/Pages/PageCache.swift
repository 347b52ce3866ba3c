import CSQLite

/// The page cache of SQLite, with one page number replaced by 0
/// (https://sqlite.org/c3ref/pcache_methods2.html).
///
/// The locking page is a page that SQLite never uses. When SQLite reorders the pages of a tree, it
/// gives them the number of the locking page for a moment. The cache remembers the greatest number
/// that it saw. If that number is after the database's end, the cache searches all its pages at the
/// next commit. This takes a millisecond for 256 MB, at each commit of a database of less than a
/// gigabyte. If the pages get the number 0 instead, which no page has, the cache does not search.
package enum PageCache {
  /// The required page size in bytes. ``lockingPage`` depends on it.
  package static let pageSize = 4_096

  /// The first read of the value installs the cache, and must come before the first use of SQLite.
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

  /// The page at the offset of one gibibyte.
  package static let lockingPage = UInt32(0x4000_0000 / pageSize + 1)

  private static func number(_ page: UInt32) -> UInt32 { page == lockingPage ? 0 : page }
}
