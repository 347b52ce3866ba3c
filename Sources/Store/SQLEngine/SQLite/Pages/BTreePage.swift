import Glibc

/// A page of a table or an index, whose cells lie at its end, their places at its beginning, and between
/// them bytes that mean nothing (https://sqlite.org/fileformat2.html, section 1.6).
///
/// When cells move to another page or within theirs, SQLite leaves copies of them in those bytes. With
/// `secure_delete` it overwrites all else that it deletes: cells, and pages that become free.
enum BTreePage {
  /// The greatest number of a page in a store's file, which then has 128 GiB. Other pages than those of
  /// b-trees begin with the number of a page; up to this one, none begins with the byte of a b-tree's.
  static let greatestNumber = 0x1FF_FFFF

  private static let types: Set<UInt8> = [2, 5, 10, 13]
  /// The types of pages whose header ends with the number of one more page.
  private static let interiorTypes: Set<UInt8> = [2, 5]
  /// The bytes of the file's header, with which its first page begins.
  private static let fileHeaderBytes = 100

  /// Where a page has bytes that mean nothing and are not zeros; nil where it has none.
  static func remains(on page: UnsafeRawPointer, number: UInt32) -> Range<Int>? {
    guard let gap = gap(of: page, number: number), !gap.isEmpty else { return nil }
    let start = page + gap.lowerBound
    let isZero =
      start.load(as: UInt8.self) == 0 && memcmp(start, start + 1, gap.count - 1) == 0
    return isZero ? nil : gap
  }

  /// Where the bytes between the places and the cells are; nil when the page is none of a b-tree.
  static func gap(of page: UnsafeRawPointer, number: UInt32) -> Range<Int>? {
    let header = number == 1 ? fileHeaderBytes : 0
    func byte(_ place: Int) -> UInt8 { page.load(fromByteOffset: header + place, as: UInt8.self) }
    func word(_ place: Int) -> Int { Int(byte(place)) << 8 | Int(byte(place + 1)) }
    let type = byte(0)
    guard types.contains(type) else { return nil }
    let places = header + (interiorTypes.contains(type) ? 12 : 8)
    let start = places + 2 * word(3)
    // 0 would be 65,536, which no page here has.
    let end = word(5)
    guard start <= end, end <= PageCache.pageSize - PageSeal.bytes else { return nil }
    return start..<end
  }
}
