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

  /// A term of a program: its head and what follows.
  struct Term: Hashable, Sendable {
    var words: ArraySlice<UInt64>

    var operation: Operation { Program.operation(words[words.startIndex]) }
    var number: Int { Program.number(words[words.startIndex]) }
    var arguments: ArraySlice<UInt64> { words.dropFirst() }

    /// The points of a term that is about points.
    var points: [UInt32] {
      switch operation {
      case .any, .none, .all, .notAll: arguments.map { UInt32($0) }
      case .range, .near, .filter: []
      }
    }
  }

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
