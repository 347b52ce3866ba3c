import CloudKitModel

extension RecordTypeIndex {
  /// How an entry can be found.
  struct Choice {
    enum Place {
      case nothing
      case points([UInt32])
      case stretches(OrderedPath, low: UInt64, high: UInt64)
      case cells(FieldKey, level: UInt8, [UInt64])
      /// In the list of an ordered path.
      case bound(Int, UInt64, isUpper: Bool)
    }

    var place = Place.nothing
    /// The term that holds for every record that comes there.
    var proves: Int?
    /// Whether a record may come to the entry by several ways.
    var isMetAgain = false
    /// How many of a thousand changes are thought to come there.
    var cost = 1_000.0

    /// What a single bound and an interval are thought to cost before anything is known.
    fileprivate static let boundCost = 400.0
    fileprivate static let stretchesCost = 30.0
  }

  /// Chooses the term by which the fewest records come to the entry in vain.
  func choose(_ terms: [Program.Term]) -> Choice {
    var best = Choice()
    for (index, term) in terms.enumerated() {
      guard var choice = choice(for: term) else { continue }
      if choice.proves != nil { choice.proves = index }
      if choice.cost < best.cost { best = choice }
    }
    return best
  }

  private func choice(for term: Program.Term) -> Choice? {
    switch term.operation {
    case .any:
      let points = term.points
      return Choice(
        place: .points(points), proves: 0,
        isMetAgain: points.count > 1 && paths[term.number].hasManyPoints,
        cost: points.reduce(0) { $0 + cost(of: $1) })
    case .all:
      let points = term.points
      let best = points.map { ($0, cost(of: $0)) }.min { $0.1 < $1.1 }
      return best.map {
        Choice(place: .points([$0.0]), proves: points.count == 1 ? 0 : nil, cost: $0.1)
      }
    case .range:
      let (low, high) = term.bounds
      let sample = bounds[term.number].sample
      guard low > 0, high < .max else {
        return Choice(
          place: .bound(term.number, low == 0 ? high : low, isUpper: low == 0), proves: 0,
          cost: sample.cost(low: low, high: high, typical: Choice.boundCost))
      }
      let keys = Stretches.keys(in: Stretches.cover(low, high))
      return Choice(
        place: .stretches(orderedPaths[term.number], low: low, high: high),
        cost: sample.cost(
          low: keys.lowerBound, high: keys.upperBound, typical: Choice.stretchesCost))
    case .near:
      let (center, distance) = term.circle
      let (level, cells) = SphereGrid.cover(center: center, distance: distance)
      let field = fields[term.number]
      return Choice(
        place: .cells(field.key, level: level, cells),
        cost: field.places.cost(center: center, distance: distance))
    case .filter, .none, .notAll:
      return nil
    }
  }

  /// How many of a thousand changes are thought to come to an entry where it is filed; nil when it is
  /// filed nowhere.
  func costWhereFiled(_ entry: Entry, _ terms: [Program.Term]) -> Double? {
    func cost(_ isFiledUnder: (Program.Term) -> Bool) -> Double? {
      terms.filter(isFiledUnder).compactMap { choice(for: $0)?.cost }.min()
    }
    switch entry.access {
    case .nowhere:
      return nil
    case .bound(let path, _):
      return cost { $0.operation == .range && $0.number == Int(path) }
    case .points:
      let points = keys(of: entry).map(\.point)
      guard let path = points.first.map({ path(of: $0) }) else { return nil }
      switch path.shape {
      case .stretch(let kind, _):
        let number = orderedNumbers[OrderedPath(field: path.field, kind: kind)]
        return cost { $0.operation == .range && $0.number == number }
      case .cell:
        return cost { $0.operation == .near && fields[$0.number].key == path.field }
      default:
        return points.reduce(0) { $0 + self.cost(of: $1) }
      }
    }
  }

  /// How many of a thousand changes are thought to have a point.
  func cost(of point: UInt32) -> Double {
    let known = points[ledgerOf: point]
    let typical = path(of: point).typicalCost
    // What was guessed counts like sixteen changes.
    let learnt = Double(changesLearnt - known.learntBefore)
    let share = (Double(known.meetings) * 1_000 + typical * 16) / (learnt + 16)
    // What many are interested in occurs the more often.
    let crowd = Double(points[point].candidates.count + points[point].certain.count)
    return share + crowd / (crowd + 1_000)
  }

  /// What has to be asked of a record at the place where the entry is filed.
  func candidate(_ slot: Int32, _ terms: [Program.Term], _ choice: Choice) -> Candidate {
    var rest = terms
    if let proven = choice.proves { rest.remove(at: proven) }
    var check = Candidate.Check.program
    var (path, low, high) = (0, UInt64(0), UInt64.max)
    if rest.isEmpty {
      check = .nothing
    } else if rest.count == 1, let term = rest.first {
      let points = term.points
      switch term.operation {
      case .range where term.bounds != (0, .max):
        // Before the ordered values is one for what asks for none.
        (check, path) = (.range, term.number + 1)
        (low, high) = term.bounds
      case .near:
        (check, path) = (.cap, term.number)
        let (center, distance) = term.circle
        (low, high) = PlaceCap(center: center, distance: distance).words
      case .any where points.count == 1, .all where points.count == 1:
        (check, low) = (.point, UInt64(points[0]))
      case .all where points.count == 2:
        // Where the entry is filed under one of the two, the other is left.
        guard case .points(let filed) = choice.place, filed.count == 1,
          points.contains(filed[0]), let other = points.first(where: { $0 != filed[0] })
        else { break }
        (check, low) = (.point, UInt64(other))
      default:
        break
      }
    }
    return Candidate(
      entry: UInt32(slot), events: entries[slot].events, check: check,
      isMetAgain: choice.isMetAgain, path: path, low: low, high: high)
  }
}

extension Program.Term {
  /// Those of a range.
  fileprivate var bounds: (low: UInt64, high: UInt64) {
    (words[words.startIndex + 1], words[words.startIndex + 2])
  }

  /// That of a distance.
  fileprivate var circle: (center: Location, distance: Double) {
    let numbers = arguments.map { Double(bitPattern: $0) }
    return (Location(latitude: numbers[0], longitude: numbers[1]), numbers[2])
  }
}

extension Path {
  /// Whether a record can have several points of the path.
  var hasManyPoints: Bool {
    switch shape {
    case .element, .word, .elementPrefix, .prefix: true
    case .value, .absence, .stretch, .cell, .zone, .everything: false
    }
  }

  /// How many of a thousand changes have a point of the path, as long as nothing better is known.
  fileprivate var typicalCost: Double {
    switch shape {
    case .value: 10
    case .element, .word: 15
    case .prefix, .elementPrefix: 5
    case .cell, .stretch: 10
    case .absence: 300
    case .zone: 100
    case .everything: 1_000
    }
  }
}
