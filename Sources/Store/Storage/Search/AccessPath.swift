import CloudKitModel

/// A way to find all records that can match a query, perhaps with other records that do not match.
///
/// For example, `rank > 3` gives a path with one range of the values of `rank`. Every match is on
/// the path; the other filters decide which records on the path match.
///
/// A negated filter, such as `rank NOT IN [3, 4]`, gives a path of the opposite kind: no record on
/// it matches (``RecordSearch/makeExcludedPaths()``).
struct AccessPath {
  /// Where the records of a path are found.
  enum Source {
    case keyRanges([FieldKeyRange])
    case names([String])
    case zone
  }

  /// A position on a path: an entry of the value index, existing or not.
  struct Position: Equatable {
    /// Among the ranges of the path.
    var keyRange: Int
    var key: [UInt8]
    var number: Int64
  }

  /// A circle on the earth that contains all matches. A key is so precise that it excludes most
  /// places outside without reading their records.
  struct Circle {
    let center: Location
    /// In metres.
    let radius: Double
    /// Distances from the centre.
    private let distance: PlaceDistance
    /// The cosine of the angle that the radius, plus the greatest error of a key, has at the
    /// earth's centre. A place with a smaller cosine is outside.
    private let leastCosine: Double

    init(center: Location, radius: Double) {
      self.center = center
      self.radius = radius
      distance = PlaceDistance(from: center)
      let angle = (radius + PlaceDistance.error) / Location.earthRadius * 180 / .pi
      leastCosine = angle < 180 ? cosine(angle) : -1
    }

    /// True also for places up to ``PlaceDistance/error`` outside. `key` is that of the place as a
    /// number (``ValueKey``).
    func mayHold(_ key: UInt64) -> Bool { distance.nearness(of: key) >= leastCosine }
  }

  var source: Source
  /// The path can lead to a record several times, as for a field with lists.
  var hasRepeats = false
  var circle: Circle?

  var keyRanges: [FieldKeyRange] {
    if case .keyRanges(let keyRanges) = source { return keyRanges }
    return []
  }
}

extension AccessPath {
  init(
    field: Int64, _ ranges: [KeyRange] = [.everything], hasRepeats: Bool = false,
    circle: Circle? = nil
  ) {
    self.init(
      source: .keyRanges(ranges.map { FieldKeyRange(field: field, range: $0) }),
      hasRepeats: hasRepeats, circle: circle)
  }
}

/// A range of the keys of one field in the value index.
struct FieldKeyRange {
  /// The field, or its words (``RecordTypeEntry/Field/tokenNumber``).
  var field: Int64
  var range: KeyRange
}
