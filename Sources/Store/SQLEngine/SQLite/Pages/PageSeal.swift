import CPageChecksum
import CSQLite

/// The seal in the last bytes of each page of a store's file, which SQLite reserves on request
/// (https://sqlite.org/fileformat.html, section 1.3.4). It has a checksum, which covers the rest of
/// the page and the page's number, and a counterweight.
///
/// | bytes | content |
/// | --- | --- |
/// | 0–4079 | the page |
/// | 4080–4087 | XXH64 of bytes 0–4079, with the page's number as the seed |
/// | 4088–4095 | the counterweight |
///
/// The seal is added when a page is written to the write-ahead log. By then, SQLite has computed
/// its own checksum of the frame (the page with its header in the log), which is a sum of the
/// page's words. The counterweight in the last two words offsets the change of the two words before
/// them, so SQLite's checksum stays valid.
package enum PageSeal {
  package static let bytes = 16
  private static let start = PageCache.pageSize - bytes

  private static func checksum(of page: UnsafeRawPointer, number: UInt32) -> UInt64 {
    petrel_checksum(page, start, UInt64(number))
  }

  package static func put(on page: UnsafeMutableRawPointer, number: UInt32) {
    let checksum = checksum(of: page, number: number)
    let end = page + start
    let words = end.loadUnaligned(as: (UInt32, UInt32, UInt32, UInt32).self)
    let first = UInt32(truncatingIfNeeded: checksum)
    let second = UInt32(truncatingIfNeeded: checksum >> 32)
    // The differences in the two running sums after the checksum.
    let firstGap = first &- words.0
    let secondGap = (second &- words.1) &+ firstGap
    end.storeBytes(of: first, as: UInt32.self)
    end.storeBytes(of: second, toByteOffset: 4, as: UInt32.self)
    end.storeBytes(of: words.2 &- firstGap &- secondGap, toByteOffset: 8, as: UInt32.self)
    end.storeBytes(of: words.3 &- secondGap, toByteOffset: 12, as: UInt32.self)
  }

  /// Whether the page is unchanged since it was sealed, and has this number. The counterweight is
  /// not checked.
  package static func isIntact(_ page: UnsafeRawPointer, number: UInt32) -> Bool {
    page.loadUnaligned(fromByteOffset: start, as: UInt64.self)
      == checksum(of: page, number: number)
  }
}

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
