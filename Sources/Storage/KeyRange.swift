import CloudKitModel

/// A stretch of a field's keys in the value index, both ends included.
struct KeyRange: Equatable {
  var lower: [UInt8]
  var upper: [UInt8]

  static let everything = KeyRange(lower: [], upper: ValueKey.greatest)

  init(lower: [UInt8], upper: [UInt8]) {
    self.lower = lower
    self.upper = upper
  }

  init(_ key: [UInt8]) {
    self.init(lower: key, upper: key)
  }

  func contains(_ key: [UInt8]) -> Bool {
    !key.lexicographicallyPrecedes(lower) && !upper.lexicographicallyPrecedes(key)
  }
}

extension Filter {
  /// Where the value index has all records that can pass the filter, nil when it cannot tell. The
  /// ranges may hold other records too, and a list under several of its members.
  ///
  /// The filter must fit the field's type (``validate(against:)``).
  func keyRanges(in fieldType: FieldType) -> [KeyRange]? {
    guard let value, comparator.negated == nil else { return nil }
    if !options.isEmpty, value.type.element == .string { return nil }
    let element = fieldType.element
    switch comparator {
    case .equals:
      return fieldType.isList ? nil : Self.ranges(of: [value], in: element)
    case .lessThan, .lessThanOrEquals:
      return Self.bounds(of: value, in: element)
        .map { [KeyRange(lower: [], upper: $0.upper)] } ?? []
    case .greaterThan, .greaterThanOrEquals:
      return Self.bounds(of: value, in: element)
        .map { [KeyRange(lower: $0.lower, upper: ValueKey.greatest)] } ?? []
    case .isIn:
      guard case .list(_, let allowed) = value else { return nil }
      return Self.ranges(of: allowed, in: element)
    case .listContains:
      return Self.ranges(of: [value], in: element) + [KeyRange(ValueKey.longList)]
    case .listContainsAll:
      guard case .list(_, let wanted) = value, let first = wanted.first else { return nil }
      return Self.ranges(of: [first], in: element) + [KeyRange(ValueKey.longList)]
    case .listContainsAny:
      guard case .list(_, let wanted) = value else { return nil }
      return Self.ranges(of: wanted, in: element) + [KeyRange(ValueKey.longList)]
    case .beginsWith:
      return Self.prefixRange(value).map { [$0] }
    case .listMemberBeginsWith:
      return Self.prefixRange(value).map { [$0, KeyRange(ValueKey.longList)] }
    case .near:
      guard case .location(let center) = value, let distance else { return nil }
      return KeyRange.around(center, within: distance)
    default:
      return nil
    }
  }

  /// One range for each different value; none for a value that equals nothing.
  private static func ranges(of values: [RecordValue], in element: ValueType) -> [KeyRange] {
    var ranges: [KeyRange] = []
    for value in values {
      guard let range = bounds(of: value, in: element), !ranges.contains(range) else { continue }
      ranges.append(range)
    }
    return ranges
  }

  /// The keys of the field's values that are next to a filter's value, below and above; the same
  /// when the field can hold just that value.
  private static func bounds(of value: RecordValue, in element: ValueType) -> KeyRange? {
    switch (element, value) {
    case (.int64, .double(let double)):
      guard !double.isNaN else { return nil }
      return KeyRange(
        lower: ValueKey.key(of: whole(double.rounded(.down))),
        upper: ValueKey.key(of: whole(double.rounded(.up))))
    case (.double, .int64(let integer)):
      // Rounding keeps the order, so the nearest double bounds on either side.
      return ValueKey.key(of: Double(integer)).map { KeyRange($0) }
    case (.string, .reference(let reference)):
      return KeyRange(ValueKey.key(of: reference.recordName))
    default:
      return ValueKey.key(of: value).map { KeyRange($0) }
    }
  }

  private static func whole(_ double: Double) -> Int64 {
    Int64(exactly: double) ?? (double < 0 ? .min : .max)
  }

  private static func prefixRange(_ value: RecordValue) -> KeyRange? {
    guard case .string(let prefix) = value else { return nil }
    let key = ValueKey.key(of: prefix)
    // 0xFF is in no UTF-8 text, so this is after every text that begins with the prefix.
    return KeyRange(lower: key, upper: key + [0xFF])
  }
}

extension KeyRange {
  /// The most bands of latitude that are searched one by one; a larger circle is one range.
  private static let bandLimit = 64

  /// The cells that a circle on the sphere touches, and some more.
  static func around(_ center: Location, within distance: Double) -> [KeyRange] {
    // A little more than the radius, for what rounding may take away.
    let radius = distance * 1.000_001 + 1
    let degrees = radius / Location.earthRadius * 180 / .pi
    let south = center.latitude - degrees
    let north = center.latitude + degrees
    let bands = ValueKey.band(south)...ValueKey.band(north)
    let span = longitudeSpan(of: center, degrees: degrees, south: south, north: north)
    guard let span, bands.count <= bandLimit else {
      return [
        KeyRange(
          lower: ValueKey.key(ofBand: bands.lowerBound, longitude: -180),
          upper: ValueKey.key(ofBand: bands.upperBound, longitude: 180))
      ]
    }
    return bands.flatMap { band in
      span.map { longitudes in
        KeyRange(
          lower: ValueKey.key(ofBand: band, longitude: longitudes.lowerBound),
          upper: ValueKey.key(ofBand: band, longitude: longitudes.upperBound))
      }
    }
  }

  /// The longitudes that a circle touches, in one or two stretches; nil when it holds a pole.
  private static func longitudeSpan(
    of center: Location, degrees: Double, south: Double, north: Double
  ) -> [ClosedRange<Double>]? {
    guard south > -90, north < 90 else { return nil }
    // The meridian that touches the circle: sin Δλ = sin r / cos φ.
    let ratio = sine(degrees) / sine(90 - abs(center.latitude))
    guard ratio < 1 else { return nil }
    let reach = arcSine(ratio) + 1e-6
    let west = center.longitude - reach
    let east = center.longitude + reach
    if west < -180 { return [-180...east, (west + 360)...180] }
    if east > 180 { return [west...180, -180...(east - 360)] }
    return [west...east]
  }
}
