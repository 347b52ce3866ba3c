import Glibc

/// The layout of a page of a table or an index. Its cell pointers are at the beginning, its cells
/// at the end, and unused bytes between them (https://sqlite.org/fileformat2.html, section 1.6).
///
/// When SQLite moves cells to another page or within a page, it leaves copies of the cells in the
/// unused bytes. With `secure_delete` it overwrites the other data that it deletes: cells and freed
/// pages.
enum BTreePage {
  /// The greatest permitted page number in a store's file; a file of this many pages has 128 GiB.
  /// Pages outside of b-trees begin with a page number. Up to this limit, the first byte of a page
  /// number is at most 1, so it differs from the type byte of every b-tree page.
  static let greatestNumber = 0x1FF_FFFF

  /// The type bytes of interior and leaf pages of indexes and tables.
  private static let types: Set<UInt8> = [2, 5, 10, 13]
  /// The types of interior pages, whose headers have four more bytes than those of leaf pages.
  private static let interiorTypes: Set<UInt8> = [2, 5]
  private static let fileHeaderBytes = 100

  /// The range of unused bytes; nil if all of them are zero.
  static func remains(on page: UnsafeRawPointer, number: UInt32) -> Range<Int>? {
    guard let gap = gap(of: page, number: number), !gap.isEmpty else { return nil }
    let start = page + gap.lowerBound
    let isZero =
      start.load(as: UInt8.self) == 0 && memcmp(start, start + 1, gap.count - 1) == 0
    return isZero ? nil : gap
  }

  /// The range between cell pointers and cells; nil if the page is not a valid b-tree page.
  static func gap(of page: UnsafeRawPointer, number: UInt32) -> Range<Int>? {
    let header = number == 1 ? fileHeaderBytes : 0
    func byte(_ place: Int) -> UInt8 { page.load(fromByteOffset: header + place, as: UInt8.self) }
    func word(_ place: Int) -> Int { Int(byte(place)) << 8 | Int(byte(place + 1)) }
    let type = byte(0)
    guard types.contains(type) else { return nil }
    let places = header + (interiorTypes.contains(type) ? 12 : 8)
    let start = places + 2 * word(3)
    // 0 means 65,536, which cannot occur with this page size.
    let end = word(5)
    guard start <= end, end <= PageCache.pageSize - PageSeal.bytes else { return nil }
    return start..<end
  }
}
