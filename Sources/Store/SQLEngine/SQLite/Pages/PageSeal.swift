import CPageChecksum

/// What the last bytes of each page of a store's file hold, in the room that SQLite leaves where it is
/// asked to (https://sqlite.org/fileformat.html, section 1.3.4): a checksum over the rest of the page
/// with the page's number, and a counterweight.
///
/// The checksum is put in on the page's way to the write-ahead log, when SQLite has counted its own
/// checksum of the frame already. That is a sum of the page's words, of which the last two can make
/// good for what the two before them changed: so SQLite's stays right.
package enum PageSeal {
  /// Bytes at the end of each page.
  package static let bytes = 16
  /// Where in a page they begin.
  private static let start = PageCache.pageSize - bytes

  private static func checksum(of page: UnsafeRawPointer, number: UInt32) -> UInt64 {
    petrel_checksum(page, start, UInt64(number))
  }

  /// Puts the seal onto a page, in the place of other bytes.
  package static func put(on page: UnsafeMutableRawPointer, number: UInt32) {
    let checksum = checksum(of: page, number: number)
    let end = page + start
    let words = end.loadUnaligned(as: (UInt32, UInt32, UInt32, UInt32).self)
    let first = UInt32(truncatingIfNeeded: checksum)
    let second = UInt32(truncatingIfNeeded: checksum >> 32)
    // How far the two running sums are off after the checksum.
    let firstGap = first &- words.0
    let secondGap = (second &- words.1) &+ firstGap
    end.storeBytes(of: first, as: UInt32.self)
    end.storeBytes(of: second, toByteOffset: 4, as: UInt32.self)
    end.storeBytes(of: words.2 &- firstGap &- secondGap, toByteOffset: 8, as: UInt32.self)
    end.storeBytes(of: words.3 &- secondGap, toByteOffset: 12, as: UInt32.self)
  }

  /// Whether a page is as it was when the seal was put on it, and in its place.
  package static func isIntact(_ page: UnsafeRawPointer, number: UInt32) -> Bool {
    page.loadUnaligned(fromByteOffset: start, as: UInt64.self)
      == checksum(of: page, number: number)
  }
}
