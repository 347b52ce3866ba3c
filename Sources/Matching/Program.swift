/// A predicate in whole words, which are both what is carried out and what tells one predicate from
/// another: equal predicates of a record type have equal programs, for points, paths and filters are
/// numbered alike.
///
/// A term is a head, which says what it is and how many words follow, and those.
enum Program {
  enum Operation: UInt8 {
    /// Words: points. One of them is there.
    case any
    /// Words: points. None of them is there.
    case none
    /// Words: points. All of them are there.
    case all
    /// Words: points. One of them is missing.
    case notAll
    /// The number is that of an ordered path; words: the two bounds.
    case range
    /// The number is that of a field; words: latitude, longitude and distance.
    case near
    /// Words: the number of a filter.
    case filter
  }

  static func head(_ operation: Operation, number: Int = 0, count: Int) -> UInt64 {
    UInt64(operation.rawValue) | UInt64(number) << 8 | UInt64(count) << 40
  }

  // Only heads that were made above are read.
  @inline(__always)
  static func operation(_ head: UInt64) -> Operation {
    Operation(rawValue: UInt8(truncatingIfNeeded: head)) ?? .filter
  }
  @inline(__always)
  static func number(_ head: UInt64) -> Int { Int(head >> 8 & 0xFFFF_FFFF) }
  @inline(__always)
  static func count(_ head: UInt64) -> Int { Int(head >> 40) }
}
