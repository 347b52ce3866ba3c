/// The header field `Range` (RFC 9110, section 14.2), of one range of bytes.
enum ByteRange: Equatable {
  case part(Range<Int64>)
  /// There are no such bytes.
  case unsatisfiable

  /// Nil for what is to be ignored: other units, several ranges, and what is malformed.
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
