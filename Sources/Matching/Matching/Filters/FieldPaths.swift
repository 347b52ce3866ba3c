import CloudKitModel

/// What the entries of a record type ask of one field, so that its value in a record is looked at
/// once for all of them.
struct FieldPaths: Sendable {
  struct Text: Sendable {
    var options: Filter.Options
    var path: UInt32
  }

  struct Prefix: Sendable {
    var options: Filter.Options
    var path: UInt32
    /// In how many points each length occurs.
    var lengths = Tally()
  }

  struct Level: Sendable {
    var level: UInt8
    var path: UInt32
  }

  struct Ordered: Sendable {
    var kind: OrderedPath.Kind
    var number: Int
    var stretches: [Level] = []
  }

  let key: FieldKey
  var values: [Text] = []
  var elements: [Text] = []
  var prefixes: [Prefix] = []
  var elementPrefixes: [Prefix] = []
  var words: UInt32?
  var absence: UInt32?
  var cells: [Level] = []
  var ordered: [Ordered] = []
  /// How many distances to places are asked for, and what places there are.
  var circles = 0
  var places = Sample<SpherePoint>()

  init(_ key: FieldKey) {
    self.key = key
  }

  /// Takes up a path of which there are points now.
  mutating func add(_ path: Path, number: UInt32) {
    switch path.shape {
    case .value: values.append(Text(options: path.options, path: number))
    case .element: elements.append(Text(options: path.options, path: number))
    case .prefix: prefixes.append(Prefix(options: path.options, path: number))
    case .elementPrefix: elementPrefixes.append(Prefix(options: path.options, path: number))
    case .word: words = number
    case .absence: absence = number
    case .cell(let level): cells.append(Level(level: level, path: number))
    case .stretch(let kind, let level):
      guard let place = ordered.firstIndex(where: { $0.kind == kind }) else { return }
      ordered[place].stretches.append(Level(level: level, path: number))
    case .zone, .everything: break
    }
  }

  /// Lets go of a path of which there are no points any more.
  mutating func remove(_ path: Path, number: UInt32) {
    switch path.shape {
    case .value: values.removeAll { $0.path == number }
    case .element: elements.removeAll { $0.path == number }
    case .prefix: prefixes.removeAll { $0.path == number }
    case .elementPrefix: elementPrefixes.removeAll { $0.path == number }
    case .word: words = nil
    case .absence: absence = nil
    case .cell: cells.removeAll { $0.path == number }
    case .stretch:
      for place in ordered.indices { ordered[place].stretches.removeAll { $0.path == number } }
    case .zone, .everything: break
    }
  }

  /// Counts a new point's length, or one that is gone.
  ///
  /// - Returns: whether there was no such length before, or is none now.
  mutating func count(length: Int, of path: Path, number: UInt32, isNew: Bool) -> Bool {
    switch path.shape {
    case .prefix: Self.count(length, number, isNew, in: &prefixes)
    case .elementPrefix: Self.count(length, number, isNew, in: &elementPrefixes)
    default: false
    }
  }

  private static func count(
    _ length: Int, _ path: UInt32, _ isNew: Bool, in prefixes: inout [Prefix]
  ) -> Bool {
    guard let place = prefixes.firstIndex(where: { $0.path == path }) else { return false }
    let before = prefixes[place].lengths.numbers.count
    if isNew { prefixes[place].lengths.add(length) } else { prefixes[place].lengths.remove(length) }
    return prefixes[place].lengths.numbers.count != before
  }
}

/// Numbers, and how often each is there.
struct Tally: Sendable {
  private(set) var numbers: [Int] = []
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

  mutating func remove(_ number: Int) {
    guard let place = numbers.firstIndex(of: number) else { return }
    counts[place] -= 1
    if counts[place] == 0 {
      numbers.remove(at: place)
      counts.remove(at: place)
    }
  }
}
