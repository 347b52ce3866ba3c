import CloudKitModel

/// A way to find all records that can match a query, perhaps with other records that do not match.
///
/// For example, the filter `rank > 3` gives a path with one range of the values of `rank` in the
/// value index. Every record that matches the query is on the path. The other filters decide which
/// records on the path match.
///
/// A negated filter, such as `rank NOT IN [3, 4]`, gives a path of the opposite kind: no record on
/// it matches (``RecordSearch/makeExcludedPaths()``).
struct AccessPath {
  /// The place where the search finds the records of a path.
  enum Source {
    /// Ranges of the value index, which are read one after the other.
    case stretches([IndexStretch])
    /// The records with these names.
    case names([String])
    /// The records of the searched zone.
    case zone
  }

  /// A position on a path: an entry of the value index, existing or not.
  struct Position: Equatable {
    /// The index of the range among the ranges of the path.
    var stretch: Int
    /// The key of the entry.
    var key: [UInt8]
    /// The record number of the entry.
    var number: Int64
  }

  /// A circle on the earth that contains all places of matching records. The key of a place in the
  /// index is so precise that it excludes most records outside of the circle without reading them.
  struct Circle {
    let center: Location
    /// The radius in metres.
    let radius: Double
    /// The computation of distances from the centre.
    private let distance: PlaceDistance
    /// The cosine of the angle that the radius has at the earth's centre, after adding the greatest
    /// error of a key to the radius. A place whose angle has a smaller cosine is outside.
    private let leastCosine: Double

    /// Creates a circle.
    ///
    /// - Parameters:
    ///   - center: the centre.
    ///   - radius: the radius in metres. A circle with a radius of half the earth's circumference
    ///     contains every place.
    init(center: Location, radius: Double) {
      self.center = center
      self.radius = radius
      distance = PlaceDistance(from: center)
      let angle = (radius + PlaceDistance.error) / Location.earthRadius * 180 / .pi
      leastCosine = angle < 180 ? cosine(angle) : -1
    }

    /// Returns whether the circle may contain a place. The result can be true for a place that is
    /// up to ``PlaceDistance/error`` outside of the circle.
    ///
    /// - Parameter key: the key of the place as a number (``ValueKey``).
    func mayHold(_ key: UInt64) -> Bool { distance.nearness(of: key) >= leastCosine }
  }

  /// The place where the search finds the records of the path.
  var source: Source
  /// Whether the path can lead to the same record several times, as for a field with lists.
  var hasRepeats = false
  /// The circle of a filter by distance, whose places are on the path; nil for other paths.
  var circle: Circle?

  /// The ranges of the path, in order; empty for a path of names or of a zone.
  var stretches: [IndexStretch] {
    if case .stretches(let stretches) = source { return stretches }
    return []
  }
}

/// A range of the keys of one field in the value index.
struct IndexStretch {
  /// The number of the field, or the number of its words (``RecordTypeEntry/Field/tokenNumber``).
  var field: Int64
  /// The range of the keys.
  var range: KeyRange
}
