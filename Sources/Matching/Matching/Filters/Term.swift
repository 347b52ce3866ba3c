import CloudKitModel

/// One condition of a predicate in the form that the index uses.
///
/// Each filter becomes one term. A filter that no other case can express exactly becomes a
/// ``filter(_:implies:)``. A *point* is a fact that a record can have: a ``Path`` with a
/// ``PointValue``.
enum Term: Sendable {
  /// The condition that a record has at least one of the points; with `isNegated`, that the record
  /// has none of them.
  case any(Path, [PointValue], isNegated: Bool)
  /// The condition that a record has all the points; with `isNegated`, that the record lacks at
  /// least one.
  case all(Path, [PointValue], isNegated: Bool)
  /// The condition that a value is between two ordered keys (``OrderedKey``), both included.
  case range(OrderedPath, low: UInt64, high: UInt64)
  /// The condition that a place is within a distance, in metres, from a center.
  case near(FieldKey, Location, distance: Double)
  /// A filter that is evaluated directly, because no other case expresses it exactly.
  ///
  /// `implies` is a term that is true for each record that the filter matches. The index can file
  /// the entry under this term. `nil` means that no such term is known.
  indirect case filter(Filter, implies: Term?)
  case always
  case never

  /// Creates the term of a filter. The term is true exactly for the records that
  /// `Filter.matches(_:)` accepts.
  init(_ filter: Filter) {
    let term = Term(relationOf: filter)
    self = filter.comparator.isNegated ? term.negated(of: filter) : term
  }

  init(_ zoneID: ZoneID) {
    self = .any(.zone, [PointValue(zoneID)], isNegated: false)
  }

  /// Returns the negation of the term. Ranges, distances and filters become the filter itself.
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

  /// Creates the term of the filter's relation, such as "equals". A negation of the filter is
  /// ignored.
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
        // The text of all fields is not a single value, so it always equals "no value".
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

  /// Creates the term of a search for words.
  ///
  /// If the text of the filter has no words, the term is never true.
  ///
  /// - Parameter all: `true` if the record must have all the words; `false` if one of them is
  ///   enough.
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

  /// Creates the condition that a record has one of the values on a path.
  ///
  /// The term omits values that equal nothing, such as a NaN. If a value cannot be expressed as a
  /// point, the filter is evaluated directly.
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

  /// Creates the condition that a record has all the values on a path. If a value cannot be
  /// expressed as a point, the filter is evaluated directly.
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
    // Every list contains all elements of an empty list. Points cannot express that.
    self =
      isExact && !points.isEmpty ? term : .filter(filter, implies: points.isEmpty ? nil : term)
  }

  /// Returns the point of a value that is compared on a path.
  ///
  /// - Parameter isExact: The method sets it to `false` if different values share the point. The
  ///   filter must then be evaluated too.
  /// - Returns: `.some(nil)` for a value that equals nothing; `nil` for a value that cannot be
  ///   expressed as a point.
  private static func point(
    of value: RecordValue, _ path: Path, isExact: inout Bool
  ) -> PointValue?? {
    if case .reference(let reference) = value {
      switch path.field {
      case .system(.parent), .system(.share), .field, .allText:
        // References that name a record in different zones have the same point.
        isExact = false
      case .system:
        // These system fields are texts. The record name is compared without folding.
        guard path.options.isEmpty else { return nil }
        return .some(PointValue(bytes: reference.recordName.utf8))
      }
    }
    if let point = PointValue(value, path.options) { return .some(point) }
    return PointValue.visit(value, []) { _, _ in } == .equalsNothing ? .some(nil) : nil
  }

  /// Creates the condition of a comparison by order.
  ///
  /// For a bound that a key cannot express exactly, the term is a filter that implies a range.
  /// These bounds are texts, and in some cases numbers of at least 2^53 or at most -2^53.
  ///
  /// - Parameters:
  ///   - value: The bound, which the field is compared with.
  ///   - isUpper: `true` if the field's value must be below the bound; `false` if above.
  ///   - isStrict: Whether the bound itself does not satisfy the condition.
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
      // Between doubles beyond 2^53 there are integers. A bound that moves by one key would lose
      // them.
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
    case .bytes, .preciseTimestamp, .location, .reference, .asset, .list:
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
  /// The path of the point that every record has.
  static let everything = Path(field: .allText, shape: .everything)
}
