import CloudKitModel

/// The paths of one field that the entries of a record type use. A ``Path`` is a field with one way
/// to read facts (*points*) from it.
///
/// Matching reads the field's value in a record once for all paths. ``RecordPlan`` turns these
/// lists into steps.
struct FieldPaths: Sendable {
  /// A path whose points are texts, compared with options.
  struct Text: Sendable {
    /// The options by which a text is folded before it is compared.
    var options: Filter.Options
    var path: UInt32
  }

  /// A path whose points are prefixes of texts.
  struct Prefix: Sendable {
    /// The options by which a text is folded before its prefixes are compared.
    var options: Filter.Options
    var path: UInt32
    /// The lengths of the prefixes in bytes. The count of a length is the number of points that
    /// have it.
    var lengths = Tally()
  }

  /// A path of cells (``SphereGrid``) or of dyadic intervals (``DyadicIntervals``) on one level.
  struct Level: Sendable {
    /// The level. A dyadic interval has 2^level keys. A cell of a higher level is smaller.
    var level: UInt8
    var path: UInt32
  }

  /// An ordered path of the field.
  struct Ordered: Sendable {
    var kind: OrderedPath.Kind
    /// The number of the ordered path.
    var number: Int
    /// The levels of dyadic intervals under which entries are filed.
    var dyadicIntervals: [Level] = []
  }

  let key: FieldKey
  var values: [Text] = []
  var elements: [Text] = []
  var prefixes: [Prefix] = []
  /// The paths of the prefixes of the texts in a list.
  var elementPrefixes: [Prefix] = []
  /// The number of the path of the words; `nil` if no predicate compares words.
  var words: UInt32?
  /// The number of the path of "no value"; `nil` if no predicate compares with "no value".
  var absence: UInt32?
  /// The paths of grid cells, one for each level in use.
  var cells: [Level] = []
  /// The ordered paths: numbers, timestamps, and texts by their options.
  var ordered: [Ordered] = []
  /// The number of distance terms on the field, in the programs of all entries.
  var circles = 0
  /// The places in the field of the latest learned changes.
  var places = Sample<SpherePoint>()

  init(_ key: FieldKey) {
    self.key = key
  }

  /// Adds a path that has just got its first point.
  mutating func add(_ path: Path, number: UInt32) {
    switch path.shape {
    case .value: values.append(Text(options: path.options, path: number))
    case .element: elements.append(Text(options: path.options, path: number))
    case .prefix: prefixes.append(Prefix(options: path.options, path: number))
    case .elementPrefix: elementPrefixes.append(Prefix(options: path.options, path: number))
    case .word: words = number
    case .absence: absence = number
    case .cell(let level): cells.append(Level(level: level, path: number))
    case .dyadicInterval(let kind, let level):
      guard let place = ordered.firstIndex(where: { $0.kind == kind }) else { return }
      ordered[place].dyadicIntervals.append(Level(level: level, path: number))
    case .zone, .everything: break
    }
  }

  /// Removes a path that has no points any more.
  mutating func remove(_ path: Path, number: UInt32) {
    switch path.shape {
    case .value: values.removeAll { $0.path == number }
    case .element: elements.removeAll { $0.path == number }
    case .prefix: prefixes.removeAll { $0.path == number }
    case .elementPrefix: elementPrefixes.removeAll { $0.path == number }
    case .word: words = nil
    case .absence: absence = nil
    case .cell: cells.removeAll { $0.path == number }
    case .dyadicInterval:
      for place in ordered.indices {
        ordered[place].dyadicIntervals.removeAll { $0.path == number }
      }
    case .zone, .everything: break
    }
  }

  /// Counts the length of a point that was added or removed. Only paths of prefixes count lengths.
  ///
  /// - Parameter isNew: `true` if the point was added; `false` if it was removed.
  /// - Returns: `true` if the set of lengths changed.
  mutating func count(length: Int, of path: Path, number: UInt32, isNew: Bool) -> Bool {
    switch path.shape {
    case .prefix: Self.count(length, number, isNew, in: &prefixes)
    case .elementPrefix: Self.count(length, number, isNew, in: &elementPrefixes)
    default: false
    }
  }

  /// - Returns: `true` if the set of lengths changed.
  private static func count(
    _ length: Int, _ path: UInt32, _ isNew: Bool, in prefixes: inout [Prefix]
  ) -> Bool {
    guard let place = prefixes.firstIndex(where: { $0.path == path }) else { return false }
    let before = prefixes[place].lengths.numbers.count
    if isNew { prefixes[place].lengths.add(length) } else { prefixes[place].lengths.remove(length) }
    return prefixes[place].lengths.numbers.count != before
  }
}

/// A sorted set of integers with counts.
///
/// - Complexity: O(*n*) for each operation, where *n* is the number of different integers.
struct Tally: Sendable {
  /// The integers with a positive count, in ascending order.
  private(set) var numbers: [Int] = []
  /// The counts, at the same indices.
  private var counts: [Int] = []

  mutating func add(_ number: Int) {
    let place = numbers.firstIndex { $0 >= number } ?? numbers.count
    if place < numbers.count, numbers[place] == number {
      counts[place] += 1
    } else {
      numbers.insert(number, at: place)
      counts.insert(1, at: place)
    }
  }

  /// Subtracts one from the count of an integer, and removes the integer when its count is 0. An
  /// unknown integer does nothing.
  mutating func remove(_ number: Int) {
    guard let place = numbers.firstIndex(of: number) else { return }
    counts[place] -= 1
    if counts[place] == 0 {
      numbers.remove(at: place)
      counts.remove(at: place)
    }
  }
}
