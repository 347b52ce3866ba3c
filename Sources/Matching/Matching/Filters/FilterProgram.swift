/// The encoding of a predicate as 64-bit words.
///
/// A program is a sequence of terms, all of which must be true. A term is a head word and its
/// arguments. From its lowest bit, the head has the operation (8 bits), a number (32 bits) and the
/// count of the arguments (24 bits).
///
/// Matching executes the words. The index also compares predicates by these words. Points, paths
/// and filters have one number each, so equal predicates of a record type have equal programs. A
/// *point* is a fact that a record can have (``PointTable``).
enum FilterProgram {
  /// The operation of a term.
  enum Operation: UInt8 {
    /// True if the change has at least one of the points. Number: the path. Arguments: the points.
    case any
    /// True if the change has none of the points. Number: the path. Arguments: the points.
    case none
    /// True if the change has all of the points. Number: the path. Arguments: the points.
    case all
    /// True if the change lacks at least one of the points. Number: the path. Arguments: the
    /// points.
    case notAll
    /// True if a value is between two bounds, both included. Number: the ordered path. Arguments:
    /// the lower and the upper bound.
    case range
    /// True if a place is within a distance of a center. Number: the field. Arguments: latitude and
    /// longitude of the center in degrees, and the distance in metres, each a bit pattern of a
    /// `Double`.
    case near
    /// True if a filter matches the record. Number: 0. Argument: the number of the filter.
    case filter
  }

  /// One term of a program.
  struct Term: Hashable, Sendable {
    var words: ArraySlice<UInt64>

    /// The operation of the head.
    var operation: Operation { FilterProgram.operation(words[words.startIndex]) }
    /// The number in the head. ``Operation`` says its meaning.
    var number: Int { FilterProgram.number(words[words.startIndex]) }
    var arguments: ArraySlice<UInt64> { words.dropFirst() }

    var points: [UInt32] {
      switch operation {
      case .any, .none, .all, .notAll: arguments.map { UInt32($0) }
      case .range, .near, .filter: []
      }
    }
  }

  /// - Complexity: O(*n*), where *n* is the count of the words.
  static func terms(of program: ArraySlice<UInt64>) -> [Term] {
    var terms: [Term] = []
    var start = program.startIndex
    while start < program.endIndex {
      let end = start + 1 + count(program[start])
      terms.append(Term(words: program[start..<end]))
      start = end
    }
    return terms
  }

  /// Returns the head word of a term.
  ///
  /// - Parameters:
  ///   - number: A number below 2^32.
  ///   - count: The count of the arguments, below 2^24.
  static func head(_ operation: Operation, number: Int = 0, count: Int) -> UInt64 {
    UInt64(operation.rawValue) | UInt64(number) << 8 | UInt64(count) << 40
  }

  // Only heads that `head(_:number:count:)` made are read, so the fallback is never used.
  /// The operation in a head word.
  @inline(__always)
  static func operation(_ head: UInt64) -> Operation {
    Operation(rawValue: UInt8(truncatingIfNeeded: head)) ?? .filter
  }
  @inline(__always)
  static func number(_ head: UInt64) -> Int { Int(head >> 8 & 0xFFFF_FFFF) }
  @inline(__always)
  static func count(_ head: UInt64) -> Int { Int(head >> 40) }
}
