import CloudKitModel

/// One condition of a predicate as the index understands it.
enum Term: Sendable {
  /// That a record has one of the points, or has none of them when `isNegated`.
  case any(Path, [PointValue], isNegated: Bool)
  /// That a record has all the points, or not all of them.
  case all(Path, [PointValue], isNegated: Bool)
  /// That a value is between two keys, both included.
  case range(OrderedPath, low: UInt64, high: UInt64)
  case near(FieldKey, Location, distance: Double)
  /// What none of the others can say; with one of the others that holds whenever the filter does.
  indirect case filter(Filter, implies: Term?)
  case always
  case never

  init(_ filter: Filter) {
    let term = Term(relationOf: filter)
    self = filter.comparator.isNegated ? term.negated(of: filter) : term
  }

  init(_ zoneID: ZoneID) {
    self = .any(.zone, [PointValue(zoneID)], isNegated: false)
  }

  private func negated(of filter: Filter) -> Term {
    switch self {
    case .any(let path, let points, let isNegated):
      .any(path, points, isNegated: !isNegated)
    case .all(let path, let points, let isNegated):
      .all(path, points, isNegated: !isNegated)
    case .always: .never
    case .never: .always
    case .range, .near, .filter: .filter(filter, implies: nil)
    }
  }

  /// What the filter's relation asks, its negation aside.
  private init(relationOf filter: Filter) {
    let relation = filter.comparator.relation
    let options = filter.options
    func path(_ shape: Path.Shape, _ options: Filter.Options = []) -> Path {
      Path(field: filter.key, shape: shape, options: options)
    }
    guard let value = filter.value else {
      let isAbsence = relation == .equals && filter.key != .allText
      self =
        isAbsence
        ? .any(path(.absence), [PointValue(bytes: [])], isNegated: false)
        // Of all text there is no single value.
        : relation == .equals ? .always : .never
      return
    }
    guard filter.key != .allText || relation.comparesTokens else {
      self = .never
      return
    }
    switch relation {
    case .containsAllTokens, .containsAnyTokens:
      self = Term(words: filter, all: relation == .containsAllTokens)
    case .equals:
      self = Term(filter, path(.value, options), anyOf: [value])
    case .isIn:
      guard case .list(_, let values) = value else {
        self = .never
        return
      }
      self = Term(filter, path(.value, options), anyOf: values)
    case .listContains:
      self = Term(filter, path(.element, options), anyOf: [value])
    case .listContainsAny:
      guard case .list(_, let values) = value else {
        self = .never
        return
      }
      self = Term(filter, path(.element, options), anyOf: values)
    case .listContainsAll:
      guard case .list(_, let values) = value else {
        self = .never
        return
      }
      self = Term(filter, path(.element, options), allOf: values)
    case .beginsWith, .listMemberBeginsWith:
      guard case .string(let text) = value else {
        self = .never
        return
      }
      let start = PointValue(bytes: options.fold(text).utf8)
      let shape: Path.Shape = relation == .beginsWith ? .prefix : .elementPrefix
      self = .any(path(shape, options), [start], isNegated: false)
    case .near:
      guard case .location(let center) = value, let distance = filter.distance else {
        self = .never
        return
      }
      self = .near(filter.key, center, distance: distance)
    case .lessThan:
      self = Term(filter, value, isUpper: true, isStrict: true)
    case .lessThanOrEquals:
      self = Term(filter, value, isUpper: true, isStrict: false)
    case .greaterThan:
      self = Term(filter, value, isUpper: false, isStrict: true)
    case .greaterThanOrEquals:
      self = Term(filter, value, isUpper: false, isStrict: false)
    }
  }

  private init(words filter: Filter, all: Bool) {
    guard case .string(let text) = filter.value else {
      self = .never
      return
    }
    let words = TextTokens(text).tokens.sorted().map { PointValue(bytes: $0.utf8) }
    guard !words.isEmpty else {
      self = .never
      return
    }
    let path = Path(field: filter.key, shape: .word)
    self = all ? .all(path, words, isNegated: false) : .any(path, words, isNegated: false)
  }

  private init(_ filter: Filter, _ path: Path, anyOf values: [RecordValue]) {
    var points: Set<PointValue> = []
    var isExact = true
    for value in values {
      switch Term.point(of: value, path, isExact: &isExact) {
      case .some(let point?): points.insert(point)
      case .some(nil): continue
      case nil:
        self = .filter(filter, implies: nil)
        return
      }
    }
    let term = Term.any(path, points.sorted(by: PointValue.precedes), isNegated: false)
    if isExact {
      self = points.isEmpty ? .never : term
    } else {
      self = .filter(filter, implies: term)
    }
  }

  private init(_ filter: Filter, _ path: Path, allOf values: [RecordValue]) {
    var points: Set<PointValue> = []
    var isExact = true
    for value in values {
      switch Term.point(of: value, path, isExact: &isExact) {
      case .some(let point?): points.insert(point)
      case .some(nil):
        self = .never
        return
      case nil:
        self = .filter(filter, implies: nil)
        return
      }
    }
    let term = Term.all(path, points.sorted(by: PointValue.precedes), isNegated: false)
    // Every list contains all of nothing, which is no matter of points.
    self =
      isExact && !points.isEmpty ? term : .filter(filter, implies: points.isEmpty ? nil : term)
  }

  /// What stands for a value that is compared on a path: `.some(nil)` for one that equals nothing, nil
  /// for one that has no such thing.
  private static func point(
    of value: RecordValue, _ path: Path, isExact: inout Bool
  ) -> PointValue?? {
    if case .reference(let reference) = value {
      switch path.field {
      case .system(.parent), .system(.share), .field, .allText:
        // References that name a record in different zones look alike.
        isExact = false
      case .system:
        // Such a field is a text, which is compared as it is.
        guard path.options.isEmpty else { return nil }
        return .some(PointValue(bytes: reference.recordName.utf8))
      }
    }
    if let point = PointValue(value, path.options) { return .some(point) }
    return PointValue.visit(value, []) { _, _ in } == .equalsNothing ? .some(nil) : nil
  }

  /// What an order asks.
  ///
  /// - Parameters:
  ///   - value: The bound, which the field is compared with.
  ///   - isUpper: Whether the field's value is below the bound.
  ///   - isStrict: Whether the bound itself does not pass.
  private init(_ filter: Filter, _ value: RecordValue, isUpper: Bool, isStrict: Bool) {
    let kind: OrderedPath.Kind
    var bound: OrderedValue
    var isExact = true
    switch value {
    case .double(let double):
      guard let key = OrderedValue(double) else {
        self = .never
        return
      }
      (kind, bound) = (.number, key)
      // Between larger doubles there are integers, which a key more or less would leave out.
      isExact = !isStrict || double.magnitude < 0x1p53
    case .int64(let integer):
      (kind, bound) = (.number, OrderedValue(integer))
      isExact = !isStrict && bound.floor == bound.ceiling || integer.magnitude < 1 << 53
    case .timestamp(let timestamp):
      let key = OrderedKey.of(milliseconds: timestamp.milliseconds)
      (kind, bound) = (.timestamp, OrderedValue(exactly: key))
    case .string(let text):
      let key = OrderedKey.of(filter.options.fold(text))
      (kind, bound) = (.text(filter.options), OrderedValue(exactly: key))
      isExact = false
    case .bytes, .location, .reference, .asset, .list:
      self = .never
      return
    }
    var (low, high) = isUpper ? (0, bound.ceiling) : (bound.floor, UInt64.max)
    if isExact, isStrict {
      guard isUpper ? high > 0 : low < .max else {
        self = .never
        return
      }
      if isUpper { high -= 1 } else { low += 1 }
    }
    let range = Term.range(OrderedPath(field: filter.key, kind: kind), low: low, high: high)
    self = isExact ? range : .filter(filter, implies: range)
  }
}

extension Path {
  static let zone = Path(field: .allText, shape: .zone)
  static let everything = Path(field: .allText, shape: .everything)
}
