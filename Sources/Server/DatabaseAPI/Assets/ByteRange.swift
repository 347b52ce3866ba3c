/// The range of bytes in a header field `Range` (RFC 9110, section 14.2) that names a single range.
enum ByteRange: Equatable {
  /// The bytes at these offsets, with at least one byte.
  case part(Range<Int64>)
  /// No byte of the asset is in the range; the answer has the status 416.
  case unsatisfiable

  /// Parses the field. The server ignores the field if the result is nil: for another unit, for
  /// several ranges, or if it is malformed.
  static func parse(_ field: String, size: Int64) -> ByteRange? {
    guard field.hasPrefix("bytes=") else { return nil }
    let bounds = field.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
    guard bounds.count == 2 else { return nil }
    if bounds[0].isEmpty {
      guard let count = Int64(bounds[1]), count >= 0 else { return nil }
      return count == 0 || size == 0 ? .unsatisfiable : .part(max(0, size - count)..<size)
    }
    guard let first = Int64(bounds[0]), first >= 0 else { return nil }
    var last = size - 1
    if !bounds[1].isEmpty {
      guard let given = Int64(bounds[1]), given >= first else { return nil }
      last = min(last, given)
    }
    return first < size ? .part(first..<last + 1) : .unsatisfiable
  }
}
