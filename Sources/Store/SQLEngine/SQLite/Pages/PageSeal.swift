import CPageChecksum

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
